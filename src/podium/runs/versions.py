"""Versions recorded with every run: Podium, Python, packages and the system."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version


def versions() -> dict[str, str]:
    """Return the versions of everything that may influence a result."""
    share = os.environ.get("PODIUM_GPU_SHARE")
    return {
        "podium": version("podium"),
        "inspect_ai": version("inspect_ai"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        **({"gpu_share": share} if share else {}),
    }
