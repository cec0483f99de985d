"""One-line summaries of steps, actions and observations for terminals and pages.

Texts by agents are quoted verbatim: callers must escape them before printing.
"""

from __future__ import annotations

import ast
import re
from typing import Any, Literal, NamedTuple, assert_never

from podium.workspace.journal.events import Action, Step
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

Tone = Literal["good", "bad", "neutral"]
QUOTED_CHARACTERS = 120
_PARSED_CHARACTERS = 100_000
_PLACES = (
    "file_name", "script_name", "file_path", "path", "name", "source", "dir_path", "command", "request", "query",
    "text",
)  # fmt: skip
"""Arguments that identify the object of an action, most specific first."""


class StepSummary(NamedTuple):
    """Summary of a step."""

    action: str
    result: str
    verdict: Tone


def summarize_step(step: Step) -> StepSummary:
    """Summarize a step: its action, its result, and whether that is good."""
    return StepSummary(summarize_action(step.action), *summarize_observation(step.observation))


def summarize_action(action: Action) -> str:
    """Summarize an action in one line."""
    arguments = action.arguments
    match action.name:
        case "try_script":
            return f"Try script {arguments.get('number')}: {script_title(str(arguments.get('script', '')))}"
        case "submit_script":
            return f"Submit script {arguments.get('number')}"
        case "run_command":
            command = str(arguments.get("command", ""))
            comment = re.match(r"# *(\S.*)\n", command)  # a leading comment states the purpose of the command
            return _one_line(comment[1], QUOTED_CHARACTERS) if comment else f"Run {_quoted(command)}"
        case "execute_script":
            return f"Run {_quoted(arguments.get('script_name'))}"
        case "python_session":
            return f"Run in a Python session: {_quoted(arguments.get('command'))}"
    about = next((_quoted(arguments[name]) for name in _PLACES if arguments.get(name)), "")
    return f"{_one_line(action.name, 60).replace('_', ' ').capitalize()} {about}".rstrip()


def script_title(script: str) -> str:
    """Return the title of a script: the first line of its docstring, else its first comment, else its first line."""
    try:
        found = ast.get_docstring(ast.parse(script)) if len(script) <= _PARSED_CHARACTERS else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found = None
    lines = (line.strip() for line in (found or script[:_PARSED_CHARACTERS]).splitlines())
    first = next((line for line in lines if line.strip("#!\"' ")), "an empty script")
    return _one_line(first.lstrip("#!\"' "), QUOTED_CHARACTERS)


def summarize_observation(observation: Observation) -> tuple[str, Tone]:
    """Summarize an observation in one line, and rate it good, bad or neutral."""
    match observation:
        case ScriptResult():
            return _script_result(observation)
        case ProgramOutput():
            return _program_result(observation)
        case SubmissionResult(accepted=accepted):
            return (f"script {observation.script} is now the submission", "good") if accepted else _bad(observation)
        case ValidationResult(valid=valid):
            return ("the submission is valid", "good") if valid else _bad(observation)
        case Refusal() | Interruption():
            return _bad(observation)
        case TextResult():
            return _one_line(observation.text, QUOTED_CHARACTERS), "neutral"
        case _:
            assert_never(observation)


def _script_result(result: ScriptResult) -> tuple[str, Tone]:
    if result.stopped is not None or result.exit_code:
        return _failure(result.stopped, result.exit_code, result.output)
    score = "no validation score" if result.metric is None else f"validation score {result.metric:.5g}"
    if not result.valid:
        return f"{score}, no valid submission: {_one_line(result.error or 'none was written', 200)}", "bad"
    return f"{score}, valid submission", "good" if result.metric is not None else "neutral"


def _program_result(result: ProgramOutput) -> tuple[str, Tone]:
    if result.stopped is not None or result.exit_code:
        return _failure(result.stopped, result.exit_code, result.stderr or result.stdout)
    return _last_line(result.stdout) or _last_line(result.stderr) or "ended without an error or output", "neutral"


def _failure(stopped: str | None, exit_code: int | None, output: str) -> tuple[str, Tone]:
    ending = f"stopped: {_one_line(stopped, 80)}" if stopped is not None else f"exit code {exit_code}"
    said = _last_line(output)
    return f"{ending}; {said}" if said else ending, "bad"


def _bad(observation: Refusal | Interruption | SubmissionResult | ValidationResult) -> tuple[str, Tone]:
    return _one_line(observation.text, 200), "bad"


def _last_line(text: str) -> str:
    """Return the last line of the output that is not blank: usually the error or the score."""
    lines = [line for line in re.split(r"[\r\n]+", text[-8 * QUOTED_CHARACTERS :]) if line.strip()]
    return _one_line(lines[-1], QUOTED_CHARACTERS) if lines else ""


def _quoted(value: Any) -> str:
    return _one_line(value if isinstance(value, str) else repr(value), QUOTED_CHARACTERS)


def _one_line(text: str, limit: int) -> str:
    line = " ".join(text[: 8 * limit].split())
    return line if len(line) <= limit and len(text) <= 8 * limit else f"{line[: limit - 1].rstrip()}…"
