"""A Python session that keeps its variables between calls."""

from __future__ import annotations

from podium.actions.action_context import ActionContext
from podium.actions.action_spec import ActionError, action
from podium.actions.files.file_access import source_of
from podium.actions.program_runner import run_in_sandbox
from podium.actions.python import session_client, session_kernel
from podium.text import bounded

STOP_TIMEOUT_S = 30
_LOST = "The earlier session had ended, and its variables with it; this ran in a new one."
_ENDED = "The session's process ended during this; its variables are lost. The next call starts anew."


@action(title="Python REPL")
async def python_session(context: ActionContext, command: str) -> str:
    """Run Python code in a session that keeps variables, functions and imports between calls.

    The value of an expression on the last line is shown. The current folder is the workspace.

    Args:
        command: The Python code: one or more lines.

    Returns:
        What the code printed, or its exception.
    """
    if "\0" in command:
        raise ActionError("The code must not contain a null byte.")
    program = [context.python, "-u", "-c", source_of(session_client.__file__)]
    run = [*program, "run", source_of(session_kernel.__file__)]
    result = await context.run_program(run, cwd=context.root, stdin=command, background=True)
    printed = result.stdout.text.strip("\n")
    if result.stopped is not None:
        stop = await run_in_sandbox([*program, "stop"], cwd=context.root, time_s=STOP_TIMEOUT_S)
        kept = "kept" if stop.exit_code == session_client.REPORT | session_client.KEPT else "lost"
        ending = f"Stopped: {result.stopped}. The session's variables are {kept}."
        return f"{ending} Until then it printed:\n{printed or '(nothing)'}"
    facts = result.exit_code ^ session_client.REPORT
    if not 0 <= facts <= session_client.LOST | session_client.ENDED:
        reason = bounded(result.stderr.text.strip(), 1_000) or f"exit code {result.exit_code}"
        raise ActionError(f"The Python session could not be reached: {reason}")
    notes = [note for fact, note in ((session_client.LOST, _LOST), (session_client.ENDED, _ENDED)) if facts & fact]
    return "\n".join([*notes, printed or "(nothing was printed)"])
