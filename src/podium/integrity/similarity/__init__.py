"""Similarity of scripts, to find copies: runs against each other and against public notebooks."""

from podium.integrity.similarity.compare_scripts import MIN_SIMILARITY, find_similar
from podium.integrity.similarity.documents import Document, read_folder
from podium.integrity.similarity.similar_runs import compare_experiments
from podium.integrity.similarity.similarity_page import render_pairs

__all__ = ["MIN_SIMILARITY", "Document", "compare_experiments", "find_similar", "read_folder", "render_pairs"]
