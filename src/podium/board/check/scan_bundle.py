"""What scanning the runs of an entry finds, in the row: for readers to judge, never a reason for refusal."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from podium.integrity.scan_runs import scan
from podium.text import printable

SHOWN = 20
"""Findings of a row, the surest first; the others can be had from the bundle."""


def scanned(folder: Path) -> dict[str, Any]:
    """Of an experiment: how many runs could be read, how much was found by kind, and the surest concerns."""
    runs = scan([folder], write=False)
    concerns = sorted(
        (each for run in runs for each in run.findings if each.severity == "concern"),
        key=lambda each: -each.confidence,
    )
    return {
        "runs": len(runs),
        "unread": sum(bool(run.problems) for run in runs),
        "concerns": dict(Counter(each.kind for each in concerns)),
        "practices": dict(Counter(each.kind for run in runs for each in run.findings if each.severity == "practice")),
        "shown": [
            {
                "place": printable(each.place),
                "kind": each.kind,
                "confidence": each.confidence,
                "reason": printable(each.reason),
            }
            for each in concerns[:SHOWN]
        ],
    }
