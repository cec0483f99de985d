"""What came of an action, as a value: agents, the journal, the viewer and reports read fields, never text of ours.

`text` is what a language model reads of an observation.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field


class _Observation(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    def shortened(self, limit: int) -> Self:
        """The same with every text cut to its first characters."""
        texts = {
            name: value[:limit]
            for name, value in self
            if isinstance(value, str) and len(value) > limit and name != "kind"
        }
        return self.model_copy(update=texts) if texts else self


class TextResult(_Observation):
    """An answer in words."""

    kind: Literal["text"] = "text"
    text: str


class Refusal(_Observation):
    """Why an action could not be done."""

    kind: Literal["refusal"] = "refusal"
    text: str


class Interruption(_Observation):
    """The action was ended by the run itself."""

    kind: Literal["interruption"] = "interruption"
    cause: str
    """What ended it: a part of the budget, or "the run"."""

    @property
    def text(self) -> str:
        return f"This action was ended: {self.cause} is used up."


class ProgramOutput(_Observation):
    """How a program ended, and what it printed."""

    kind: Literal["program"] = "program"
    script: str | None = None
    """Its name; None for a shell command."""
    exit_code: int | None
    """None if it was stopped."""
    stopped: str | None = None
    """Why it was stopped ("time limit of 3 s"), or None if it ended by itself."""
    stdout: str = ""
    stderr: str = ""

    @property
    def text(self) -> str:
        stdout, stderr = self.stdout.strip("\n"), self.stderr.strip("\n")
        if self.script is None:
            ending = self.stopped or f"exit code {self.exit_code}"
            return "\n".join(filter(None, [ending, stdout, stderr]))
        if self.stopped is not None:
            printed = "\n".join(filter(None, [stdout, stderr]))
            return f"{self.script} was stopped: {self.stopped}. Until then it had printed:\n{printed or '(nothing)'}"
        if self.exit_code:
            return (
                f"{self.script} failed with exit code {self.exit_code}. It printed:\n{stderr or stdout or '(nothing)'}"
            )
        return f"{self.script} ended without an error. It printed:\n{stdout or stderr or '(nothing)'}"


class ScriptResult(_Observation):
    """What came of trying a script of a search: its output, its own score, and the submission it left."""

    kind: Literal["script"] = "script"
    exit_code: int | None
    """None if it was stopped."""
    stopped: str | None = None
    """Why, for example its time limit."""
    output: str = ""
    """What it printed, stdout before stderr, the middle left out if it was long."""
    seconds: float = 0.0
    metric: float | None = None
    """The number of its last metric line."""
    valid: bool = False
    """Whether it left a submission of the right form."""
    error: str | None = None
    """What is wrong with that submission."""
    search_score: float | None = None
    """By Podium, on rows that were set aside for the search."""
    selection_score: float | None = None
    """The same on rows that were set aside for the final choice."""

    @property
    def text(self) -> str:
        ending = self.stopped or f"exit code {self.exit_code}"
        form = "a valid submission" if self.valid else f"no valid submission: {self.error}"
        score = "no validation score" if self.metric is None else f"validation score {self.metric:g}"
        if self.search_score is not None:
            score += f", {self.search_score:g} on rows set aside"
        return f"{ending} after {self.seconds:g} s, {score}, {form}\n{self.output}"


class SubmissionResult(_Observation):
    """Whether what a script left became the submission."""

    kind: Literal["submission"] = "submission"
    script: int
    accepted: bool
    reason: str = ""
    """Why it did not."""

    @property
    def text(self) -> str:
        return f"The submission is now that of script {self.script}." if self.accepted else self.reason


class ValidationResult(_Observation):
    """Whether a submission has the right form."""

    kind: Literal["validation"] = "validation"
    valid: bool
    error: str | None = None

    @property
    def text(self) -> str:
        return "Submission is valid." if self.valid else f"Submission is invalid: {self.error}"


Observation = Annotated[
    TextResult | Refusal | Interruption | ProgramOutput | ScriptResult | SubmissionResult | ValidationResult,
    Field(discriminator="kind"),
]
