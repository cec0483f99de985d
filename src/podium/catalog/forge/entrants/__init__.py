"""Entrants of forged fields: learners, ways to read a task, and how a field is put together."""
