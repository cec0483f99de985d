"""What verifying says: of each run what was checked, what is wrong and what nobody can check; of all, one sentence."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from podium.text import plural

OK = "ok"
UNCHECKED = {
    "logs": "transcripts, logs, progress.json and decision.json: the journal does not hold their hashes",
    "plan": "cores, interpreter, data folder and model address of the plan: the journal does not name them",
    "validations": "how often the agent asked for validation",
    "errors": "what records say in words of errors",
    "clock": "whether the clock of the machine was right",
    "left out": "whether other runs were made and left out",
    "publisher": "whether the publisher wrote all of it anew: a journal proves nothing against who can rewrite it",
}
"""What no folder can show by itself."""
MAY = (
    "What a stranger may conclude: the submissions of the runs that verify have these grades on this machine's own "
    "data, and journals, snapshots and records agree with one another and with the plan."
)
MAY_NOT = (
    "Not: that this agent and model made them under this budget, or that no other runs were left out; whoever ran the "
    "experiment could have written all of it anew."
)


@dataclass
class Verdict:
    """What was checked of a run, and what was found wrong."""

    run: str
    """Where it lies."""
    name: str
    """TASK/SEED."""
    status: str | None = None
    """As its record says."""
    result: str = "no record"
    """What its record claims, in words."""
    checks: dict[str, str] = field(default_factory=dict)
    """By what was checked: "ok", or what is wrong."""
    remarks: list[str] = field(default_factory=list)
    """What weakens the result though nothing is wrong: a fork, a miniature, a sandbox that is not sealed."""
    unchecked: dict[str, str] = field(default_factory=dict)
    """What could have been checked elsewhere, and why not here."""
    allowed: dict[str, Any] = field(default_factory=dict)
    """What the run was given and its sandbox enforced, as the journal's first line says."""
    origin: str | None = None
    """The hash of the journal's first line: two runs never share it, unless one is a fork."""

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
    """What was found of an experiment, or of a single run of it."""

    path: str
    runs: tuple[Verdict, ...]
    problems: tuple[str, ...] = ()
    """Of the experiment as a whole, such as planned runs that are missing."""

    @property
    def passed(self) -> bool:
        return bool(self.runs) and not self.problems and all(run.passed for run in self.runs)

    @property
    def remarks(self) -> list[str]:
        """What the first lines say: problems of the whole, then what weakens runs, each with the number of those."""
        counted = Counter(remark for run in self.runs for remark in run.remarks)
        many = len(self.runs) > 1
        return [*self.problems, *(f"{plural(n, 'run')}: {remark}" if many else remark for remark, n in counted.items())]

    @property
    def unchecked(self) -> list[str]:
        """Everything that was not checked."""
        here = dict.fromkeys(reason for run in self.runs for reason in run.unchecked.values())
        return [*here, *UNCHECKED.values()]

    @property
    def summary(self) -> str:
        passed = sum(run.passed for run in self.runs)
        said = f"Verified {passed} of {plural(len(self.runs), 'run')}"
        return f"{said}; {plural(len(self.problems), 'problem')} of the experiment." if self.problems else f"{said}."

    @property
    def conclusion(self) -> str:
        if not any(run.passed for run in self.runs):
            return "What a stranger may conclude: nothing."
        return f"{MAY} {MAY_NOT}"

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
