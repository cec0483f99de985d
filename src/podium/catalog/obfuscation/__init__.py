"""Obfuscated tasks: the same data and grading, without names by which a model may recognise the task."""
