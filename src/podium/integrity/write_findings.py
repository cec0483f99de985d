"""Writes `findings.json`: what one command found replaces what it had found before, and nothing else."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from pathlib import Path

from podium.errors import RecordError
from podium.report.stored_findings import FINDINGS_FILE, Finding, Findings, read_findings
from podium.runs.run_folder import write_document

MOST_OF_A_KIND = 5
"""Findings of one kind about one run: more of the same say nothing new."""
MOST_BYTES = 6 << 20
"""Of findings in one file, so that it can always be read back."""
QUOTED_CHARACTERS = 300


def quote(text: str) -> str:
    """What a finding shows of a text."""
    short = " ".join(text[: 4 * QUOTED_CHARACTERS].split())
    # Halves of surrogate pairs cannot be written to a file.
    short = short.encode("utf-8", "replace").decode()
    return short if len(short) <= QUOTED_CHARACTERS else short[: QUOTED_CHARACTERS - 1] + "…"


def fewest(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, the surest first, without repetitions and without the many of a kind about a run."""
    kept: list[Finding] = []
    count: dict[tuple[str, str, int], int] = {}
    seen: set[tuple[object, ...]] = set()
    for finding in sorted(findings, key=lambda each: -each.confidence):
        about = (finding.kind, finding.task, finding.seed)
        place = (*about, finding.file, finding.line, finding.quote or finding.reason)
        if place not in seen and count.get(about, 0) < MOST_OF_A_KIND:
            kept.append(finding)
            count[about] = count.get(about, 0) + 1
        seen.add(place)
    return kept


def record_findings(
    experiment: Path, source: str, findings: Iterable[Finding], *, run: tuple[str, int] | None = None
) -> None:
    """Adds findings to those of an experiment, in place of what the same source had found.

    Args:
        run: task and seed, if only that run was looked at.

    Raises:
        RecordError: there are findings that cannot be read; they are left alone.
    """
    known = read_findings(experiment) or Findings()
    if known.error:
        raise RecordError(f"{known.error} Remove {experiment / FINDINGS_FILE} to look again.")
    replaced = (each for each in known.findings if each.source != source or run not in (None, (each.task, each.seed)))
    everything = sorted(itertools.chain(replaced, findings), key=lambda each: -each.confidence)
    sizes = itertools.accumulate(len(json.dumps(each.model_dump(mode="json"), indent=1)) for each in everything)
    kept = [each for each, size in zip(everything, sizes, strict=True) if size <= MOST_BYTES]
    write_document(experiment / FINDINGS_FILE, Findings(findings=tuple(kept)), top=experiment)
