"""Observations: typed results of actions, read field by field by agents, the journal, the viewer and reports.

`text` is the form that a language model reads.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field


class _Observation(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    def shortened(self, limit: int) -> Self:
        """Return the observation with every text cut to `limit` characters."""
        texts = {
            name: value[:limit]
            for name, value in self
            if isinstance(value, str) and len(value) > limit and name != "kind"
        }
        return self.model_copy(update=texts) if texts else self


class TextResult(_Observation):
    """Text answer of an action."""

    kind: Literal["text"] = "text"
    text: str


class Refusal(_Observation):
    """Reason why an action was not performed."""

    kind: Literal["refusal"] = "refusal"
    text: str


class Interruption(_Observation):
    """Action ended by the run itself."""

    kind: Literal["interruption"] = "interruption"
    cause: str
    """The cause: a part of the budget, or "the run"."""

    @property
    def text(self) -> str:
        return f"The action was stopped because the run ended. Cause: {self.cause}."


class ProgramOutput(_Observation):
    """Exit status and output of a program."""

    kind: Literal["program"] = "program"
    script: str | None = None
    """Name of the script; None for a shell command."""
    exit_code: int | None
    """None if it was stopped."""
    stopped: str | None = None
    """Why it was stopped ("time limit of 3 s"); None if it ended on its own."""
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
            return f"{self.script} was stopped: {self.stopped}. Output until then:\n{printed or '(none)'}"
        if self.exit_code:
            return f"{self.script} failed with exit code {self.exit_code}. Output:\n{stderr or stdout or '(none)'}"
        return f"{self.script} ended without an error. Output:\n{stdout or stderr or '(none)'}"


class ScriptResult(_Observation):
    """Result of trying a script of a search: its output, its reported score and its submission."""

    kind: Literal["script"] = "script"
    exit_code: int | None
    """None if it was stopped."""
    stopped: str | None = None
    """Why it was stopped, for example its time limit."""
    output: str = ""
    """Output, stdout before stderr; the middle of a long output is left out."""
    seconds: float = 0.0
    metric: float | None = None
    """Validation score that the script printed in its last metric line."""
    valid: bool = False
    """True if it left a submission in the right format."""
    error: str | None = None
    """Problem with that submission."""
    search_score: float | None = None
    """Score by Podium on rows held out for the search."""
    selection_score: float | None = None
    """Score by Podium on rows held out for the final choice."""

    @property
    def text(self) -> str:
        ending = self.stopped or f"exit code {self.exit_code}"
        form = "a valid submission" if self.valid else f"no valid submission: {self.error}"
        score = "no validation score" if self.metric is None else f"validation score {self.metric:g}"
        if self.search_score is not None:
            score += f", {self.search_score:g} on held-out rows"
        return f"{ending} after {self.seconds:g} s, {score}, {form}\n{self.output}"


class SubmissionResult(_Observation):
    """Result of making a script's predictions the submission."""

    kind: Literal["submission"] = "submission"
    script: int
    accepted: bool
    reason: str = ""
    """Why the submission was not accepted, or details if it was."""

    @property
    def text(self) -> str:
        return f"The submission is now the one of script {self.script}." if self.accepted else self.reason


class ValidationResult(_Observation):
    """Result of validating a submission's format."""

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
