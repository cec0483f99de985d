"""What Inspect finds of Podium through its entry point: importing a name here registers it."""

from podium.runs.inspect_task import podium_task
from podium.sandbox.provider import BubblewrapSandbox

__all__ = ["BubblewrapSandbox", "podium_task"]
