"""Podium measures how well AI agents do machine-learning engineering."""
