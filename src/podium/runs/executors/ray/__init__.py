"""Runs on a Ray cluster: `--on ray`, or `podium.run(executor=Ray(...))`."""

from podium.runs.executors.ray.executor import Ray

__all__ = ["Ray"]
