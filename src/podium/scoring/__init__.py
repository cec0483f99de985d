"""Held-out scores: rows of the training data that the host sets aside and scores during a run."""
