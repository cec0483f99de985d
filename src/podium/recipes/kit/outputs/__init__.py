"""Turning predictions into the form a submission needs."""
