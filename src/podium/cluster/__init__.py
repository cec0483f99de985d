"""Runs on many machines: Ray, Slurm, and storage shared by all nodes."""
