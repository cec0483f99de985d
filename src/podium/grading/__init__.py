"""Reads a submission, checks it, aligns it with the answers, scores it and ranks the score."""
