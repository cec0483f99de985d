"""Runs on many machines: Ray, Slurm, and storage that all nodes share."""
