"""Actions that run scripts: their output, and runs that use their own runner."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from workbench import Bench

from podium.actions import run_in_sandbox
from podium.sandbox.program_result import Output, ProgramResult


def run(script: str, arguments: str = "") -> tuple[str, dict[str, str]]:
    return "execute_script", {"script_name": script, "arguments": arguments}


def ended(exit_code: int, stdout: str = "", stderr: str = "", stopped: str | None = None) -> ProgramResult:
    return ProgramResult(exit_code, Output(stdout.encode()), Output(stderr.encode()), 1.0, stopped)


def test_scripts_run_in_the_workspace_with_their_arguments(bench: Bench) -> None:
    (bench.workspace / "code").mkdir()
    (bench.workspace / "code/a.py").write_text("import os, sys\nprint(os.getcwd(), sys.argv[1:])")
    assert bench.perform(run("code/a.py", "--name 'two words' β")) == [
        "code/a.py ended without an error. Output:\n/home ['--name', 'two words', 'β']"
    ]


def test_the_output_shown_depends_on_the_exit_code(bench: Bench) -> None:
    scripts = {
        "both": "import sys; print('out'); print('err', file=sys.stderr)",
        "quiet": "import sys; print('err', file=sys.stderr)",
        "silent": "",
        "fails": "print('be' + 'fore'); raise ValueError('no')",
        "exits": "print('only this'); raise SystemExit(7)",
        "dies": "import os; os.kill(os.getpid(), 9)",
        "-c": "print('not an option')",
    }
    for name, text in scripts.items():
        (bench.workspace / name).write_text(text)
    seen = dict(zip(scripts, bench.perform(*(run(name) for name in scripts)), strict=True))
    assert seen["both"].endswith("Output:\nout")
    assert seen["quiet"].endswith("Output:\nerr")
    assert seen["silent"].endswith("Output:\n(none)")
    assert seen["fails"].startswith("fails failed with exit code 1. Output:\nTraceback")
    assert "ValueError: no" in seen["fails"]
    assert "before" not in seen["fails"]
    assert seen["exits"] == "exits failed with exit code 7. Output:\nonly this"
    assert "exit code 137" in seen["dies"]
    assert seen["-c"].endswith("not an option")


def test_long_output_keeps_head_and_tail(bench: Bench) -> None:
    (bench.workspace / "a.py").write_text("print('first')\nfor n in range(200_000): print(n)\nprint('last')")
    [observation] = bench.perform(run("a.py"))
    assert "first\n0\n1\n" in observation
    assert "characters left out ...]" in observation
    assert observation.endswith("last")
    assert len(observation) < 20_100


def test_scripts_that_cannot_be_run(bench: Bench) -> None:
    (bench.workspace / "a.py").write_text("print(1)")
    missing, folder, quotes, null = bench.perform(
        run("nowhere.py"), run("data"), run("a.py", "'open"), run("a.py", "a\0b")
    )
    assert missing == "nowhere.py does not exist."
    assert folder == "data is a folder, not a file."
    assert "cannot be read as shell words" in quotes
    assert "null byte" in null


def test_a_time_limit_shows_the_output_so_far(bench: Bench) -> None:
    (bench.workspace / "a.py").write_text("import time\nprint('started')\ntime.sleep(60)")
    [observation] = bench.perform(run("a.py"), run_program=partial(run_in_sandbox, time_s=5))
    assert observation == "a.py was stopped: time limit of 5 s. Output until then:\nstarted"


def test_a_runtime_runs_programs_its_own_way(bench: Bench) -> None:
    commands: list[list[str]] = []

    async def run_program(command: Sequence[str], *, background: bool = False, **options: Any) -> ProgramResult:
        commands.append(list(command))
        assert options == {"cwd": "/home"}
        assert not background
        return ended(137, "half\n", stopped="budget used up")

    (bench.workspace / "a.py").write_text("")
    [observation] = bench.perform(run("a.py"), run_program=run_program)
    assert observation == "a.py was stopped: budget used up. Output until then:\nhalf"
    assert commands == [["python", "-u", "./a.py"]]


def session(*commands: str) -> list[tuple[str, object]]:
    return [("python_session", {"command": command}) for command in commands]


def test_a_session_keeps_its_state(bench: Bench) -> None:
    (bench.workspace / "mine.py").write_text("number = 20")
    _, value, text, printed, cwd = bench.perform(
        *session(
            "import mine\ndef double(x):\n    return 2 * x\n",
            "double(mine.number + 1)",
            "'β 🚀'",
            "import sys, subprocess\nprint('out')\nprint('err', file=sys.stderr)\nsubprocess.run(['echo', 'child'])\n0",
            "import os; os.getcwd()",
        )
    )
    assert value == "42"
    assert text == "'β 🚀'"
    assert printed.splitlines() == ["out", "err", "child", "0"]
    assert cwd == "'/home'"


def test_modules_of_the_workspace_do_not_shadow_ours(bench: Bench) -> None:
    for name in ("socket", "json", "ast", "signal"):
        (bench.workspace / f"{name}.py").write_text("raise ImportError('not this one')")
    (bench.workspace / "own.py").write_text("x = 5")
    assert bench.perform(("list_files", {}), *session("import own; own.x"))[1] == "5"


def test_a_session_survives_mistakes(bench: Bench) -> None:
    first, error, syntax, asked, exited, last = bench.perform(
        *session(
            "x = 1",
            "def f():\n    return x / 0\nf()",
            "if x:",
            "input()",
            "exit(3)",
            "x",
        )
    )
    assert first == "(no output)"
    assert error.startswith("Traceback")
    assert "return x / 0" in error
    assert error.endswith("ZeroDivisionError: division by zero")
    assert syntax.splitlines()[0] == '  File "<session 3>", line 1'
    assert "expected an indented block" in syntax
    assert "SystemExit: 3" in exited
    assert "EOFError" in asked
    assert last == "1"


def test_a_session_that_crashes_reports_its_loss(bench: Bench) -> None:
    _, crash, after, later = bench.perform(
        *session("x = 1", "import os\nprint('going')\nos.kill(os.getpid(), 11)", "'x' in globals()", "1")
    )
    assert crash.splitlines() == [
        "The session's process ended during this call, so its variables are lost. The next call starts a new session.",
        "going",
    ]
    assert after.splitlines() == [
        "The earlier session had ended and its variables were lost; this code ran in a new session.",
        "False",
    ]
    assert later == "1"


def test_a_session_of_an_earlier_sandbox_is_lost(bench: Bench) -> None:
    bench.perform(*session("x = 1"))
    assert bench.perform(*session("1"))[0].startswith("The earlier session had ended")


def test_a_session_is_interrupted_when_its_time_is_up(bench: Bench) -> None:
    _, slow, after = bench.perform(
        *session("x = 1", "import time\nprint('waiting')\ntime.sleep(60)\nx = 2", "x"),
        run_program=partial(run_in_sandbox, time_s=5),
    )
    assert (
        slow
        == "The code was stopped: time limit of 5 s. The session's variables were kept. Output until then:\nwaiting"
    )
    assert after == "1"


def test_a_session_that_cannot_be_interrupted_is_ended(bench: Bench) -> None:
    _, stuck, after = bench.perform(
        *session(
            "x = 1",
            "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: signal.sigtimedwait([], 1)",
            "'x' in globals()",
        ),
        run_program=partial(run_in_sandbox, time_s=5),
    )
    assert "The session's variables were lost" in stuck
    assert after.endswith("this code ran in a new session.\nFalse")


def test_child_processes_do_not_keep_a_session_busy(bench: Bench) -> None:
    forked, after = bench.perform(
        *session(
            "import os\nx = 1\npid = os.fork()\nif pid == 0: raise ValueError('in the child')\nos.waitpid(pid, 0)[1]",
            "x",
        )
    )
    assert "in the child" in forked
    assert forked.endswith("0")
    assert after == "1"


def test_long_output_of_a_session_is_bounded(bench: Bench) -> None:
    [observation] = bench.perform(*session("print('first')\nfor n in range(100_000): print(n)\nprint('last')"))
    assert observation.startswith("first\n0\n")
    assert observation.endswith("last")
    assert len(observation) < 20_100


def test_the_runtime_lets_a_session_stay_in_the_background(bench: Bench) -> None:
    seen: list[bool] = []

    async def run_program(command: Sequence[str], *, background: bool = False, **options: Any) -> ProgramResult:
        seen.append(background)
        return await run_in_sandbox(command, background=background, **options)

    assert bench.perform(*session("x = 1", "x"), run_program=run_program)[1] == "1"
    assert seen == [True, True]


@pytest.mark.parametrize("stderr", ["", "python: command not found\n", "[1]"])
def test_a_session_that_does_not_start_is_an_observation(bench: Bench, stderr: str) -> None:
    async def run_program(command: Sequence[str], *, background: bool = False, **options: Any) -> ProgramResult:
        return ended(127, stderr=stderr)

    [observation] = bench.perform(*session("1"), run_program=run_program)
    assert observation.startswith("The Python session could not be reached: ")
