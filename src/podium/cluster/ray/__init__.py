"""Runs on a Ray cluster: `--on ray`, or `podium.run(executor=Ray(...))`."""

from podium.cluster.ray.ray_executor import Ray

__all__ = ["Ray"]
