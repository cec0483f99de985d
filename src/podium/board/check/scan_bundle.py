"""Integrity scan of an entry's runs, shown to readers and never a reason for refusal."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from podium.integrity.scan_runs import scan
from podium.text import printable

SHOWN = 20
"""Maximum number of findings in a row; the bundle has the others."""


def scan_summary(folder: Path) -> dict[str, Any]:
    """Return the number of scanned runs, findings by kind, and the concerns with the highest confidence."""
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
