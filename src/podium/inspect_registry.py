"""What Inspect finds of Podium through its entry point: importing a name here registers it."""

from podium.interop.inspect_tasks import agent, podium_suite, podium_task
from podium.sandbox.inspect_provider import BubblewrapSandbox, PodiumSandbox

__all__ = ["BubblewrapSandbox", "PodiumSandbox", "agent", "podium_suite", "podium_task"]
