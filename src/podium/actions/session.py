"""A Python session that keeps its variables between calls."""

from __future__ import annotations

from inspect_ai.tool import Tool, tool

from podium.actions import client, kernel
from podium.actions.execution import Execution, Executor, sandbox_executor
from podium.actions.inside import Workspace, source_of
from podium.actions.observation import ActionError, bounded, observed

STOP_PATIENCE_S = 30
_LOST = "The earlier session had ended, and its variables with it; this ran in a new one."


@tool(max_output=0)
def python_session(workspace: Workspace = Workspace(), executor: Executor | None = None) -> Tool:  # noqa: B008 (frozen)
    """The action that runs code in the workspace's Python session."""
    run = executor or sandbox_executor()

    @observed
    async def execute(command: str) -> str:
        """Run Python code in a session that keeps variables, functions and imports between calls.

        The value of an expression on the last line is shown. The current folder is the workspace.

        Args:
            command: The Python code: one or more lines.

        Returns:
            What the code printed, or its exception.
        """
        program = [workspace.python, "-u", "-c", source_of(client.__file__)]
        if "\0" in command:
            raise ActionError("The code holds a null byte.")
        execution = await run(
            [*program, "run", source_of(kernel.__file__)], cwd=workspace.root, stdin=command, background=True
        )
        if execution.stopped is None:
            return _describe(execution)
        stop = await sandbox_executor(timeout_s=STOP_PATIENCE_S)([*program, "stop"], cwd=workspace.root)
        kept = "kept" if "kept" in (_facts(stop) or []) else "lost"
        printed = execution.stdout.strip("\n") or "(nothing)"
        return f"Stopped: {execution.stopped}. The session's variables are {kept}. Until then it printed:\n{printed}"

    return execute


def _describe(execution: Execution) -> str:
    facts = _facts(execution)
    if facts is None:
        said = bounded(execution.stderr.strip(), 1_000) or f"exit code {execution.exit_code}"
        raise ActionError(f"The Python session could not be reached: {said}")
    notes = [_LOST] if "lost" in facts else []
    if "ended" in facts:
        notes.append("The session's process ended during this; its variables are lost. The next call starts anew.")
    return "\n".join([*notes, execution.stdout.strip("\n") or "(nothing was printed)"])


def _facts(execution: Execution) -> list[str] | None:
    """What the client reports about the session; None if it did not come to that."""
    last = execution.stderr.rpartition("session:")
    return last[2].split() if last[1] else None
