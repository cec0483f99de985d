"""Provenance of a bundle: Podium's version and the publisher's machine."""

from __future__ import annotations

import hashlib
import os
import platform
from functools import cache
from pathlib import Path

from podium.leases.gpus import usable_gpus
from podium.runs.versions import versions


@cache
def podium_sha256() -> str:
    """Return the hash of the names and contents of Podium's own files."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted(path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def machine_facts() -> dict[str, str]:
    """Return facts about this machine as text."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory_gib": str(round(memory / (1 << 30))),
        "gpus": str(len(usable_gpus())),
        **versions(),
    }
