"""Presentation of observations on a step's page, with facts and texts for each kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from podium.viewer.shown_text import Clip, clip, duration_in_words, number_in_words
from podium.workspace.journal.observations import (
    Interruption,
    Observation,
    ProgramOutput,
    Refusal,
    ScriptResult,
    SubmissionResult,
    TextResult,
    ValidationResult,
)


@dataclass(frozen=True)
class ShownObservation:
    """Observation as a page shows it."""

    title: str
    facts: dict[str, str]
    texts: dict[str, Clip]
    """Non-empty texts by title."""


def show(observation: Observation) -> ShownObservation:
    """Return the presentation of an observation."""
    match observation:
        case TextResult():
            return _shown("Text", {}, {"Content": observation.text})
        case Refusal():
            return _shown("Refused", {}, {"Reason": observation.text})
        case Interruption():
            return _shown("Interrupted", {"Cause": observation.cause}, {})
        case ProgramOutput():
            program = {} if observation.script is None else {"Script": observation.script}
            printed = {"Standard output": observation.stdout, "Standard error": observation.stderr}
            return _shown("Program", {**program, **_ending(observation)}, printed)
        case ScriptResult():
            facts = {
                **_ending(observation),
                "Duration": duration_in_words(observation.seconds),
                "Validation score": number_in_words(observation.metric) or "none",
                "Submission": "valid" if observation.valid else observation.error or "not valid",
            }
            return _shown("Script", facts, {"Output": observation.output})
        case SubmissionResult():
            facts = {"Script": str(observation.script), "Accepted": "yes" if observation.accepted else "no"}
            return _shown("Submission", facts, {"Reason": observation.reason})
        case ValidationResult():
            facts = {"Submission": "valid" if observation.valid else "not valid"}
            return _shown("Validation", facts, {"Reason": observation.error or ""})
        case _:
            assert_never(observation)


def _ending(result: ProgramOutput | ScriptResult) -> dict[str, str]:
    return {"Exit code": str(result.exit_code)} if result.stopped is None else {"Stopped": result.stopped}


def _shown(title: str, facts: dict[str, str], texts: dict[str, str]) -> ShownObservation:
    return ShownObservation(title, facts, {name: clip(text) for name, text in texts.items() if text})
