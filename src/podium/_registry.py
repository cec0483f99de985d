"""What Inspect finds of Podium through its entry point: importing a name here registers it."""

from podium.runs.inspect_task import podium_task
from podium.sandbox.inspect import BubblewrapSandbox, PodiumSandbox

__all__ = ["BubblewrapSandbox", "PodiumSandbox", "podium_task"]
