"""Obfuscated tasks: the same data and grading without the names by which a model may recognise the task."""
