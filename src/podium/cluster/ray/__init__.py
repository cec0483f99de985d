"""Ray executor: `--on ray`, or `podium.run(executor=Ray(...))`."""

from podium.cluster.ray.ray_executor import Ray

__all__ = ["Ray"]
