"""Runner of agent programs: a callback of the run, by default the sandbox of the current Inspect sample."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Protocol, Required, TypedDict, Unpack

from podium.sandbox.program_result import Output, ProgramResult


class RunOptions(TypedDict, total=False):
    """Options of a program run."""

    cwd: Required[str]
    """Working directory inside the sandbox."""
    stdin: str
    """Standard input."""
    background: bool
    """True if child processes may outlive the program."""
    environment: Mapping[str, str] | None
    """Additional environment variables."""
    time_s: float | None
    """Time limit in seconds."""


class RunProgram(Protocol):
    """Callback that runs an agent's program; a run uses it to lease cores, limit time and account for usage."""

    async def __call__(self, command: Sequence[str], **options: Unpack[RunOptions]) -> ProgramResult:
        """Run a program with its arguments in the sandbox and wait for it."""
        ...


async def run_in_sandbox(command: Sequence[str], **options: Unpack[RunOptions]) -> ProgramResult:
    """Run a program in the sandbox of the current Inspect sample, for any sandbox provider."""
    from inspect_ai.util import OutputLimitExceededError, sandbox

    started, time_s = time.monotonic(), options.get("time_s")

    def ended(exit_code: int, stdout: str, stderr: str = "", stopped: str | None = None) -> ProgramResult:
        seconds = time.monotonic() - started
        return ProgramResult(exit_code, Output(stdout.encode()), Output(stderr.encode()), seconds, stopped)

    try:
        done = await sandbox().exec(
            list(command),
            input=options.get("stdin", ""),
            cwd=options["cwd"],
            env=dict(options.get("environment") or {}),
            timeout=None if time_s is None else math.ceil(time_s),
            timeout_retry=False,
            concurrency=False,
        )
    except TimeoutError as error:
        return ended(137, getattr(error, "truncated_output", None) or "", stopped=f"time limit of {time_s:g} s")
    except OutputLimitExceededError as error:
        return ended(137, error.truncated_output or "", stopped=f"output limit of {error.limit_str}")
    except PermissionError as error:
        return ended(126, "", str(error))
    return ended(done.returncode, done.stdout, done.stderr)
