"""What a run was done with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version


def versions() -> dict[str, str]:
    """The versions of everything that may change a result."""
    share = os.environ.get("PODIUM_GPU_SHARE")
    return {
        "podium": version("podium"),
        "inspect_ai": version("inspect_ai"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        **({"gpu_share": share} if share else {}),
    }
