"""One-line summaries of any step."""

from __future__ import annotations

import pytest

from podium.workspace.journal.events import Action
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
from podium.workspace.step_summary import script_title, summarize_action, summarize_observation


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        (
            "try_script",
            {"number": 3, "script": '"""Boosting on pairs.\n\nMore."""\nx = 1'},
            "Try script 3: Boosting on pairs.",
        ),
        ("submit_script", {"number": 3}, "Submit script 3"),
        ("run_command", {"command": "ls\n  -l"}, "Run ls -l"),
        ("execute_script", {"script_name": "train.py"}, "Run train.py"),
        ("python_session", {"command": "x = 1"}, "Run in a Python session: x = 1"),
        ("read_file", {"file_name": "data/train.csv"}, "Read file data/train.csv"),
        ("final_answer", {}, "Final answer"),
        ("read_file", {"file_name": ["not", "text"]}, "Read file ['not', 'text']"),
        ("run_command", {"command": "# Count the rows.\nwc -l data/*"}, "Count the rows."),
        ("run_command", {"command": "x" * 500}, "Run " + "x" * 119 + "…"),
    ],
)
def test_the_summary_of_an_action_names_its_object(name: str, arguments: dict[str, object], words: str) -> None:
    assert summarize_action(Action(name=name, arguments=arguments)) == words


@pytest.mark.parametrize(
    ("script", "title"),
    [
        ("# Linear model\nimport os", "Linear model"),
        ("import os\n", "import os"),
        ("'''not closed", "not closed"),
        ("", "an empty script"),
        ("(" * 50_000, "(" * 119 + "…"),
    ],
)
def test_a_script_is_named_by_its_docstring_or_comment(script: str, title: str) -> None:
    assert script_title(script) == title


@pytest.mark.parametrize(
    ("observation", "words", "verdict"),
    [
        (
            ScriptResult(exit_code=0, metric=0.81234567, valid=True),
            "validation score 0.81235, valid submission",
            "good",
        ),
        (
            ScriptResult(exit_code=0, metric=0.8, error="3 rows"),
            "validation score 0.8, no valid submission: 3 rows",
            "bad",
        ),
        (ScriptResult(exit_code=1, output="Trace\nKeyError: 'x'\n\n"), "exit code 1; KeyError: 'x'", "bad"),
        (ScriptResult(exit_code=None, stopped="time limit of 3 s"), "stopped: time limit of 3 s", "bad"),
        (ProgramOutput(exit_code=0, stdout="a\nb\n"), "b", "neutral"),
        (ProgramOutput(exit_code=0), "ended without an error or output", "neutral"),
        (ProgramOutput(exit_code=127, stderr="sh: nope: not found"), "exit code 127; sh: nope: not found", "bad"),
        (SubmissionResult(script=2, accepted=True), "script 2 is now the submission", "good"),
        (SubmissionResult(script=2, accepted=False, reason="there is none"), "there is none", "bad"),
        (ValidationResult(valid=True), "the submission is valid", "good"),
        (Refusal(text="no such file"), "no such file", "bad"),
        (
            Interruption(cause="working time"),
            "The action was stopped because the run ended. Cause: working time.",
            "bad",
        ),
        (TextResult(text="an answer\nof lines"), "an answer of lines", "neutral"),
    ],
)
def test_the_summary_of_a_result_includes_its_tone(observation: Observation, words: str, verdict: str) -> None:
    assert summarize_observation(observation) == (words, verdict)
