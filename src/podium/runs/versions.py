"""What a run was done with."""

from __future__ import annotations

import platform
from importlib.metadata import version


def versions() -> dict[str, str]:
    """The versions of everything that may change a result."""
    return {
        "podium": version("podium"),
        "inspect_ai": version("inspect_ai"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }
