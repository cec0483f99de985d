"""Contamination: does a model know the tasks it is measured with?"""
