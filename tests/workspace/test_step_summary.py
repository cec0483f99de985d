"""Steps in words say what an agent did and what came of it, whatever it wrote."""

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
from podium.workspace.step_summary import action_in_words, result_in_words, script_title


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
        ("read_file", {"file_name": "data/train.csv"}, "Read file data/train.csv"),
        ("final_answer", {}, "Final answer"),
        ("read_file", {"file_name": ["not", "text"]}, "Read file ['not', 'text']"),
        ("run_command", {"command": "# Count the rows.\nwc -l data/*"}, "Count the rows."),
        ("run_command", {"command": "x" * 500}, "Run " + "x" * 119 + "…"),
    ],
)
def test_an_action_says_what_it_is_about(name: str, arguments: dict[str, object], words: str) -> None:
    assert action_in_words(Action(name=name, arguments=arguments)) == words


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
def test_a_script_is_named_by_what_it_says_of_itself(script: str, title: str) -> None:
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
        (ProgramOutput(exit_code=0), "ended without an error, printed nothing", "neutral"),
        (ProgramOutput(exit_code=127, stderr="sh: nope: not found"), "exit code 127; sh: nope: not found", "bad"),
        (SubmissionResult(script=2, accepted=True), "script 2 is the submission now", "good"),
        (SubmissionResult(script=2, accepted=False, reason="there is none"), "there is none", "bad"),
        (ValidationResult(valid=True), "the submission is valid", "good"),
        (Refusal(text="no such file"), "no such file", "bad"),
        (Interruption(cause="working time"), "This action was ended: working time is used up.", "bad"),
        (TextResult(text="an answer\nof lines"), "an answer of lines", "neutral"),
    ],
)
def test_a_result_says_how_it_went(observation: Observation, words: str, verdict: str) -> None:
    assert result_in_words(observation) == (words, verdict)
