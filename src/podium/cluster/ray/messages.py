"""What the driver and the nodes of a cluster tell each other: names and numbers, never transcripts."""

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
    """A run as a node is told of it."""

    storage: str
    """URL or folder."""
    prefix: str
    """Where the run lies in storage, with a slash at the end."""
    document: str
    """The experiment's, as JSON."""
    task: str
    seed: int
    data_key: str
    environment: dict[str, str]
    software: str
    is_rated: bool
    """Whether requests to models wait for their turn among those of all nodes."""

    @property
    def name(self) -> str:
        return f"{self.task}/{self.seed}"


class AttemptResult(NamedTuple):
    """What came of an attempt."""

    kind: Literal["ended", "died", "lost", "refused"]
    """`lost`: somebody else has taken the run over. `refused`: this node cannot do it."""
    reason: str = ""
    deaths: int = 0
    """How often it died without a step in between, this time included."""
    memory_bytes: int = 0
    """The most that it used."""


@cache
def software() -> str:
    """What has to be the same on all nodes, for people."""
    root = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    python = ".".join(platform.python_version_tuple()[:2])
    return f"Podium {version('podium')} ({digest.hexdigest()[:8]}), Python {python}"


def passed_environment() -> dict[str, str]:
    """The variables of this process that runs on other nodes need: keys and addresses of models, and our own."""
    return {
        name: value for name, value in os.environ.items() if _PASSED_ON.fullmatch(name) and name not in _OF_THE_NODE
    }
