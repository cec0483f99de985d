"""Commands and script trials: typed results for any programs and arguments."""

from __future__ import annotations

from workbench import Bench

from podium.actions import ACTIONS
from podium.workspace.journal.observations import (
    Observation,
    ProgramOutput,
    Refusal,
    ScriptResult,
    SubmissionResult,
    ValidationResult,
)

SOLUTION = """
import os
print("podium-metric: 0.1")
print("seed", os.environ["PODIUM_SEED"], "split", os.environ["PODIUM_SPLIT"], "time", os.environ.get("PODIUM_TIME_S"))
print(open(os.environ["PODIUM_DATA"] + "/train.csv").read())
print("podium-metric: 0.75")
print("podium-metric: nan")
open("submission.csv", "w").write("id,label\\n1,2\\n")
"""


def observe(bench: Bench, *steps: tuple[str, object]) -> list[Observation]:
    """Return the observations in a run with 100 s left, in which submissions need a certain header."""

    async def check(path: str) -> str | None:
        file = bench.workspace / path
        if not file.is_file():
            return f"{path} is missing"
        return None if file.read_text().startswith("id,label\n") else "wrong header"

    return bench.observe(*steps, check_submission=check, seed=7, remaining_s=lambda: 100.0)


def test_a_command_shows_its_whole_output(bench: Bench) -> None:
    (bench.workspace / "code").mkdir()
    both, failed, folder = bench.observe(
        ("run_command", {"command": "echo out; echo err >&2"}),
        ("Run Command", {"command": "echo before; echo wrong >&2; exit 3"}),
        ("run_command", {"command": "pwd", "folder": "code"}),
    )
    assert both == ProgramOutput(exit_code=0, stdout="out\n", stderr="err\n")
    assert both.text == "exit code 0\nout\nerr"
    assert failed.text == "exit code 3\nbefore\nwrong"
    assert folder.text == "exit code 0\n/home/code"


def test_commands_that_cannot_be_run_are_observations(bench: Bench) -> None:
    null, long, nowhere, link, unknown = bench.observe(
        ("run_command", {"command": "echo \0"}),
        ("run_command", {"command": "true " + "x" * 300_000}),
        ("run_command", {"command": "pwd", "folder": "nowhere"}),
        ("run_command", {"command": "pwd", "folder": "a\0b"}),
        ("run_command", {"cmd": "ls"}),
    )
    assert isinstance(null, Refusal) and "null byte" in null.text
    assert isinstance(link, Refusal) and "null byte" in link.text
    assert isinstance(unknown, Refusal) and "lacks command" in unknown.text
    for failed in (long, nowhere):
        assert isinstance(failed, ProgramOutput) and failed.exit_code


def test_long_output_of_a_command_keeps_both_streams(bench: Bench) -> None:
    [observation] = bench.observe(("run_command", {"command": "seq 100000; seq 100000 >&2; echo last"}))
    assert isinstance(observation, ProgramOutput)
    assert observation.stdout.endswith("last\n") and observation.stderr.endswith("100000\n")
    assert len(observation.text) < 20_100


def test_a_script_is_tried_and_its_submission_checked(bench: Bench) -> None:
    [result] = observe(bench, ("try_script", {"number": 3, "script": SOLUTION, "split": 2, "time_s": 30}))
    assert isinstance(result, ScriptResult)
    assert (result.exit_code, result.metric, result.valid, result.error) == (0, 0.75, True, None)
    assert "seed 7 split 2 time 30.0\nid,label" in result.output
    assert (bench.workspace / "code/003-split-2/script.py").read_text() == SOLUTION


def test_scripts_fail_with_a_reason(bench: Bench) -> None:
    raised, nothing, wrong, slow = observe(
        bench,
        ("try_script", {"number": 1, "script": "raise ValueError('no')"}),
        ("try_script", {"number": 2, "script": "print('podium-metric: high')"}),
        ("try_script", {"number": 4, "script": "open('submission.csv', 'w').write('x')"}),
        ("try_script", {"number": 5, "script": "import time; print('started'); time.sleep(60)", "time_s": "4.5"}),
    )
    assert isinstance(raised, ScriptResult) and raised.exit_code == 1 and "ValueError: no" in raised.output
    assert isinstance(nothing, ScriptResult) and nothing.metric is None
    assert nothing.error == "code/002/submission.csv is missing"
    assert isinstance(wrong, ScriptResult) and not wrong.valid and wrong.error == "wrong header"
    assert isinstance(slow, ScriptResult) and slow.exit_code is None
    assert slow.stopped == "time limit of 4.5 s" and slow.output == "started"


def test_a_scripts_folder_cannot_lead_out(bench: Bench) -> None:
    (bench.workspace / "code").mkdir()
    (bench.workspace / "code/009").symlink_to("/tmp")
    [refused] = observe(bench, ("try_script", {"number": 9, "script": "1"}))
    assert isinstance(refused, Refusal) and "outside the workspace" in refused.text


def test_a_scripts_file_becomes_the_submission(bench: Bench) -> None:
    (bench.workspace / "submission").mkdir()
    before, _, submitted, after, missing = observe(
        bench,
        ("validate_submission", {}),
        ("try_script", {"number": 3, "script": SOLUTION}),
        ("submit_script", {"number": 3}),
        ("Validate Submission", {}),
        ("submit_script", {"number": 4}),
    )
    assert before == ValidationResult(valid=False, error="submission/submission.csv is missing")
    assert submitted == SubmissionResult(script=3, accepted=True)
    assert after == ValidationResult(valid=True)
    assert missing == SubmissionResult(script=4, accepted=False, reason="code/004/submission.csv does not exist.")
    assert (bench.workspace / "submission/submission.csv").read_text() == "id,label\n1,2\n"


def test_wrong_arguments_are_rejected_by_every_action(bench: Bench) -> None:
    steps = [(name, {"no": 1}) for name in ACTIONS if name not in ("request_help", "submit_ensemble")]
    for (name, _), observation in zip(steps, observe(bench, *steps), strict=True):
        assert isinstance(observation, Refusal)
        assert observation.text.startswith(f"{ACTIONS[name].title} was not performed: the input ")
        assert observation.text.endswith(f"Its input looks like this:\n{ACTIONS[name].template()}")
    typed = [("try_script", {"number": "three", "script": "1"}), ("try_script", {"number": 1, "script": 1})]
    number, script = observe(bench, *typed)
    assert "number must be an integer" in number.text and "script must be a string" in script.text
