"""Snapshots of the workspace after each step."""
