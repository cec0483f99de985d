"""Writer of `findings.json`: the findings of one command replace its earlier ones and no others."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from pathlib import Path

from podium.errors import RecordError
from podium.report.stored_findings import FINDINGS_FILE, Finding, Findings, read_findings
from podium.runs.run_folder import write_document

MAX_PER_KIND = 5
"""Largest number of findings of one kind about one run; further ones add no information."""
MAX_BYTES = 6 << 20
"""Largest size of the findings in one file, so that it can always be read back."""
MAX_QUOTE_CHARACTERS = 300


def quote(text: str) -> str:
    """Return a shortened quotation of a text."""
    short = " ".join(text[: 4 * MAX_QUOTE_CHARACTERS].split())
    # Halves of surrogate pairs cannot be written to a file.
    short = short.encode("utf-8", "replace").decode()
    return short if len(short) <= MAX_QUOTE_CHARACTERS else short[: MAX_QUOTE_CHARACTERS - 1] + "…"


def strongest_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return the distinct findings, the most certain first, with at most MAX_PER_KIND of a kind about a run."""
    kept: list[Finding] = []
    count: dict[tuple[str, str, int], int] = {}
    seen: set[tuple[object, ...]] = set()
    for finding in sorted(findings, key=lambda each: -each.confidence):
        about = (finding.kind, finding.task, finding.seed)
        place = (*about, finding.file, finding.line, finding.quote or finding.reason)
        if place not in seen and count.get(about, 0) < MAX_PER_KIND:
            kept.append(finding)
            count[about] = count.get(about, 0) + 1
        seen.add(place)
    return kept


def record_findings(
    experiment: Path, source: str, findings: Iterable[Finding], *, run: tuple[str, int] | None = None
) -> None:
    """Add findings to those of an experiment and replace earlier ones of the same source.

    Args:
        run: task and seed, if only that run was scanned.

    Raises:
        RecordError: if existing findings cannot be read; they are left alone.
    """
    known = read_findings(experiment) or Findings()
    if known.error:
        raise RecordError(f"{known.error} Remove {experiment / FINDINGS_FILE} and scan again.")
    replaced = (each for each in known.findings if each.source != source or run not in (None, (each.task, each.seed)))
    everything = sorted(itertools.chain(replaced, findings), key=lambda each: -each.confidence)
    sizes = itertools.accumulate(len(json.dumps(each.model_dump(mode="json"), indent=1)) for each in everything)
    kept = [each for each, size in zip(everything, sizes, strict=True) if size <= MAX_BYTES]
    write_document(experiment / FINDINGS_FILE, Findings(findings=tuple(kept)), top=experiment)
