"""Running the agent's programs, by whatever means the runtime provides."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from inspect_ai.tool import Tool, tool
from inspect_ai.util import OutputLimitExceededError, sandbox

from podium.actions.inside import Workspace, ask_steward
from podium.actions.observation import ActionError, observed


@dataclass(frozen=True)
class Execution:
    """How a program ended."""

    exit_code: int | None
    """None if it was stopped."""
    stdout: str
    stderr: str
    stopped: str | None = None
    """Why it was ended before its time ("time limit of 3 s"), or None if it ended by itself."""


class Executor(Protocol):
    """Runs the agent's programs: the seam at which a runtime leases cores, limits time and keeps records."""

    async def __call__(
        self, command: Sequence[str], *, cwd: str, stdin: str = "", background: bool = False
    ) -> Execution:
        """Runs a program in the sandbox to its end.

        Args:
            command: the program and its arguments.
            cwd: its folder inside the sandbox.
            stdin: what it reads.
            background: whether what it leaves behind may go on when it has ended.
        """
        ...


def sandbox_executor(*, timeout_s: float | None = None) -> Executor:
    """An executor that is nothing but the sandbox of the sample, with a time limit for each program."""

    async def execute(command: Sequence[str], *, cwd: str, stdin: str = "", background: bool = False) -> Execution:
        try:
            done = await sandbox().exec(
                list(command),
                input=stdin,
                cwd=cwd,
                timeout=None if timeout_s is None else math.ceil(timeout_s),
                timeout_retry=False,
                concurrency=False,
            )
        except TimeoutError as error:
            printed = getattr(error, "truncated_output", None) or ""
            return Execution(None, printed, "", stopped=f"time limit of {timeout_s:g} s")
        except OutputLimitExceededError as error:
            return Execution(None, error.truncated_output or "", "", stopped=f"output limit of {error.limit_str}")
        except PermissionError as error:
            return Execution(126, "", str(error))
        return Execution(done.returncode, done.stdout, done.stderr)

    return execute


@tool(max_output=0)
def execute_script(workspace: Workspace = Workspace(), executor: Executor | None = None) -> Tool:  # noqa: B008 (frozen)
    """The action that runs a script."""
    run = executor or sandbox_executor()

    @observed
    async def execute(script_name: str, arguments: str = "") -> str:
        """Run a Python script in the workspace and wait until it has ended.

        Args:
            script_name: The script, relative to the workspace.
            arguments: Command-line arguments for it, written as in a shell.

        Returns:
            What the script printed: stdout if it succeeded (stderr if that is empty), stderr and the exit code if not.
        """
        script = await ask_steward(workspace, "find", name=script_name)
        try:
            words = shlex.split(arguments)
        except ValueError as error:
            raise ActionError(f"The arguments cannot be read as in a shell: {error}.") from error
        if "\0" in arguments:
            raise ActionError("The arguments hold a null byte.")
        # Before a name like -c.py Python would see an option.
        command = [workspace.python, "-u", f"./{script}", *words]
        return describe(await run(command, cwd=workspace.root), script_name)

    return execute


def describe(execution: Execution, name: str) -> str:
    """What an agent is told about the execution of a script."""
    stdout, stderr = execution.stdout.strip("\n"), execution.stderr.strip("\n")
    if execution.stopped is not None:
        printed = "\n".join(filter(None, [stdout, stderr]))
        return f"{name} was stopped: {execution.stopped}. Until then it had printed:\n{printed or '(nothing)'}"
    if execution.exit_code:
        return f"{name} failed with exit code {execution.exit_code}. It printed:\n{stderr or stdout or '(nothing)'}"
    return f"{name} ended without an error. It printed:\n{stdout or stderr or '(nothing)'}"
