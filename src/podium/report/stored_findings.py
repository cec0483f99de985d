"""Integrity findings of an experiment, stored in `findings.json` beside its runs.

A finding is evidence for human review. It does not disqualify a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from podium.errors import RecordError
from podium.runs.run_folder import read_document
from podium.text import plural

FINDINGS_FILE = "findings.json"
Severity = Literal["concern", "practice"]
"""Severity of a finding. A practice breaks no rule but matters when results are compared."""


class Finding(BaseModel):
    """Piece of evidence and its location."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    """Short name of the problem."""
    task: str
    seed: int
    reason: str
    """Explanation of the finding."""
    confidence: float = Field(ge=0, le=1)
    step: int | None = None
    file: str | None = None
    line: int | None = None
    severity: Severity = "concern"
    quote: str = ""
    """Verbatim excerpt of the agent's text, action or observation."""
    source: str = "scan"
    """Command that produced the finding."""

    @property
    def place(self) -> str:
        """Location as text: run, step, file and line."""
        parts = [f"{self.task}/{self.seed}"]
        parts += [f"step {self.step}"] if self.step is not None else []
        parts += [self.file + (f":{self.line}" if self.line is not None else "")] if self.file else []
        return ", ".join(parts)


class Findings(BaseModel):
    """Content of `findings.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    findings: tuple[Finding, ...] = ()
    error: str | None = None
    """Reason why the file cannot be read."""

    @property
    def summary(self) -> str:
        """Number of findings in one sentence."""
        if self.error:
            return f"The integrity findings cannot be read: {self.error}"
        practices = sum(finding.severity == "practice" for finding in self.findings)
        count = plural(len(self.findings), "integrity finding")
        return f"{count} to review, {practices} of them common practice." if practices else f"{count} to review."

    def of_run(self, task: str, seed: int) -> Sequence[Finding]:
        """Return the findings about one run."""
        return [finding for finding in self.findings if (finding.task, finding.seed) == (task, seed)]


def read_findings(folder: Path) -> Findings | None:
    """Return the findings about an experiment by descending confidence, or None if it was not scanned."""
    try:
        found = read_document(folder / FINDINGS_FILE, Findings)
    except RecordError as error:
        return Findings(error=str(error))
    if found is None:
        return None
    return Findings(findings=tuple(sorted(found.findings, key=lambda each: -each.confidence)))
