"""What looking into the integrity of an experiment has found, where somebody has: `findings.json` beside its runs.

A finding is evidence for a person to judge. Nothing is disqualified by it.
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
"""A practice is against no rule, but whoever compares results wants to know of it."""


class Finding(BaseModel):
    """One piece of evidence, and where it is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    """What it is evidence of, in a word or two."""
    task: str
    seed: int
    reason: str
    """Why it was noted."""
    confidence: float = Field(ge=0, le=1)
    step: int | None = None
    file: str | None = None
    line: int | None = None
    severity: Severity = "concern"
    quote: str = ""
    """What stands there: what the agent wrote, did or saw, as it is."""
    source: str = "scan"
    """The command that found it."""

    @property
    def place(self) -> str:
        """Where to look."""
        parts = [f"{self.task}/{self.seed}"]
        parts += [f"step {self.step}"] if self.step is not None else []
        parts += [self.file + (f":{self.line}" if self.line is not None else "")] if self.file else []
        return ", ".join(parts)


class Findings(BaseModel):
    """`findings.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    findings: tuple[Finding, ...] = ()
    error: str | None = None
    """Why the file cannot be read."""

    @property
    def words(self) -> str:
        """How much was found, in one sentence."""
        if self.error:
            return f"Integrity findings cannot be read: {self.error}"
        practices = sum(finding.severity == "practice" for finding in self.findings)
        told = f"{plural(len(self.findings), 'integrity finding')}, for a person to judge"
        return f"{told}; {practices} of them common practice." if practices else f"{told}."

    def of_run(self, task: str, seed: int) -> Sequence[Finding]:
        """Those about one run."""
        return [finding for finding in self.findings if (finding.task, finding.seed) == (task, seed)]


def read_findings(folder: Path) -> Findings | None:
    """The findings about an experiment, the surest first; None if nobody has looked."""
    try:
        found = read_document(folder / FINDINGS_FILE, Findings)
    except RecordError as error:
        return Findings(error=str(error))
    if found is None:
        return None
    return Findings(findings=tuple(sorted(found.findings, key=lambda each: -each.confidence)))
