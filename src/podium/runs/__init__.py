"""Runs and experiments: one agent on one task with one seed, journalled, resumable, graded and verifiable."""
