"""Podium's taskset under a name that verifiers can find: it looks for tasksets among top-level packages."""

from podium.interop.verifiers import PodiumConfig, PodiumEnv, PodiumEnvConfig, PodiumTask, PodiumTaskset

__all__ = ["PodiumConfig", "PodiumEnv", "PodiumEnvConfig", "PodiumTask", "PodiumTaskset"]
