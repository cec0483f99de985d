"""Grading: reads, checks, aligns, scores and ranks submissions."""
