"""The sandbox's own checks as a Ray task: in a module that nodes can import."""

from __future__ import annotations

from podium.sandbox.conformance import check
from podium.sandbox.linux.bubblewrap import Bubblewrap


def conform() -> list[tuple[str, str, str]]:
    """The results of the sandbox's own checks, hostile programs included, in a Ray worker."""
    return [(result.name, result.status, result.reason or "") for result in check(Bubblewrap())]
