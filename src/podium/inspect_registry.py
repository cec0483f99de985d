"""Entry point for Inspect AI: importing a name here registers it with Inspect."""

from podium.interop.inspect_tasks import agent, podium_suite, podium_task
from podium.sandbox.inspect_provider import BubblewrapSandbox, PodiumSandbox

__all__ = ["BubblewrapSandbox", "PodiumSandbox", "agent", "podium_suite", "podium_task"]
