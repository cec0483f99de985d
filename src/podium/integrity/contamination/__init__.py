"""Contamination: tests of whether a model already knows the tasks it is measured with."""
