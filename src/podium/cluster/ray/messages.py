"""Messages between driver and nodes: names and numbers, never transcripts."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Literal, NamedTuple

_PASSED_ON = re.compile(
    r"(INSPECT|PODIUM|AWS|AZURE|AZUREAI|GOOGLE|VERTEX)_\w+|\w+_(API_KEY|BASE_URL|API_BASE|ENDPOINT)"
)
_OF_THE_NODE = {"PODIUM_HOME", "PODIUM_SCRATCH", "PODIUM_CACHE_BYTES"}


class NodeRun(NamedTuple):
    """A run as described to a node."""

    storage: str
    """URL or folder of the storage."""
    prefix: str
    """Location of the run in storage, ending with a slash."""
    document: str
    """Document of the experiment as JSON."""
    task: str
    seed: int
    data_key: str
    environment: dict[str, str]
    software: str
    is_rated: bool
    """True if model requests are subject to the cluster's rate limits."""

    @property
    def name(self) -> str:
        return f"{self.task}/{self.seed}"


class AttemptResult(NamedTuple):
    """Outcome of an attempt."""

    kind: Literal["ended", "died", "lost", "refused"]
    """`lost`: another process has taken over the run. `refused`: this node cannot execute the run."""
    reason: str = ""
    deaths: int = 0
    """Number of consecutive deaths without a step in between, including this one."""
    memory_bytes: int = 0
    """Peak memory usage."""


@cache
def software() -> str:
    """Return the software versions that must be equal on all nodes, as text."""
    root = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    python = ".".join(platform.python_version_tuple()[:2])
    return f"Podium {version('podium')} ({digest.hexdigest()[:8]}), Python {python}"


def passed_environment() -> dict[str, str]:
    """Return the environment variables that runs on other nodes need: model keys, base URLs, Podium's own."""
    return {
        name: value for name, value in os.environ.items() if _PASSED_ON.fullmatch(name) and name not in _OF_THE_NODE
    }
