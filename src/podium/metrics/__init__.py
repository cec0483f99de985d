"""Scores as pure functions over arrays, one file per family.

Every metric has the signature `metric(truth, prediction, *, options) -> float`, wrapped as a `podium.task.Metric` that
knows its title and direction. Where a score is undefined (a correlation with a constant, an AUC of one class) the value
is NaN, never an exception; grading reports it.
"""
