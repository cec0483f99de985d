"""Verdicts: the checks, problems, remarks and unchecked facts of each run, and a conclusion for all."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from podium.text import plural

OK = "ok"
UNCHECKED = {
    "logs": "transcripts, logs, progress.json and decision.json, whose hashes are not in the journal",
    "plan": "cores, interpreter, data folder and model address of the plan, which are not in the journal",
    "validations": "the number of validations",
    "errors": "error messages in records",
    "clock": "the machine's clock",
    "left out": "further runs that may have been left out",
    "publisher": "the publisher's honesty, because the author of a journal can rewrite it completely",
}
"""Facts that a folder alone cannot prove."""
PROVEN = (
    "This proves that the submissions of the verified runs have these grades on this machine's own data, and that "
    "journals, snapshots and records agree with one another and with the plan."
)
NOT_PROVEN = (
    "It does not prove that this agent and model made them under this budget, or that no other runs were left out: "
    "the author of the experiment could have rewritten all of it."
)


@dataclass
class Verdict:
    """Result of verifying a run."""

    run: str
    """Folder of the run."""
    name: str
    """TASK/SEED."""
    status: str | None = None
    """Status in its record."""
    result: str = "no record"
    """Short text with the result that its record claims."""
    checks: dict[str, str] = field(default_factory=dict)
    """For each check "ok" or its problems."""
    remarks: list[str] = field(default_factory=list)
    """Facts that weaken the result without being wrong: a fork, a miniature, a sandbox that is not sealed."""
    unchecked: dict[str, str] = field(default_factory=dict)
    """Facts that could be checked elsewhere, with the reason why not here."""
    allowed: dict[str, Any] = field(default_factory=dict)
    """Resources of the run and the policy its sandbox enforced, from the journal's first line."""
    origin: str | None = None
    """Hash of the journal's first line, unique to a run and its forks."""

    @property
    def passed(self) -> bool:
        return bool(self.checks) and all(result == OK for result in self.checks.values())

    @property
    def problems(self) -> list[str]:
        return [f"{name}: {result}" for name, result in self.checks.items() if result != OK]

    def to_dict(self) -> dict[str, Any]:
        return {
            "run": self.run,
            "passed": self.passed,
            "status": self.status,
            "result": self.result,
            "checks": self.checks,
            "remarks": self.remarks,
            "unchecked": self.unchecked,
            "allowed": self.allowed,
        }


@dataclass
class Verification:
    """Result of verifying an experiment or a single run."""

    path: str
    runs: tuple[Verdict, ...]
    problems: tuple[str, ...] = ()
    """Problems of the experiment as a whole, such as missing runs."""

    @property
    def passed(self) -> bool:
        return bool(self.runs) and not self.problems and all(run.passed for run in self.runs)

    @property
    def remarks(self) -> list[str]:
        """Return the problems of the experiment, then the remarks on runs with the number of runs."""
        counted = Counter(remark for run in self.runs for remark in run.remarks)
        many = len(self.runs) > 1
        return [*self.problems, *(f"{plural(n, 'run')}: {remark}" if many else remark for remark, n in counted.items())]

    @property
    def unchecked(self) -> list[str]:
        """Return all facts that were not checked."""
        here = dict.fromkeys(reason for run in self.runs for reason in run.unchecked.values())
        return [*here, *UNCHECKED.values()]

    @property
    def summary(self) -> str:
        passed = sum(run.passed for run in self.runs)
        runs = plural(len(self.runs), "run")
        if self.problems:
            return f"Verified {passed} of {runs}; the experiment has {plural(len(self.problems), 'problem')}."
        return f"Verified {passed} of {runs}."

    @property
    def conclusion(self) -> str:
        if not any(run.passed for run in self.runs):
            return "This proves nothing."
        return f"{PROVEN} {NOT_PROVEN}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "passed": self.passed,
            "summary": self.summary,
            "conclusion": self.conclusion,
            "problems": list(self.problems),
            "remarks": self.remarks,
            "unchecked": self.unchecked,
            "runs": [run.to_dict() for run in self.runs],
        }
