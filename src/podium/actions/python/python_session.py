"""Action that runs code in a Python session, which keeps its variables between calls."""

from __future__ import annotations

from podium.actions.action_context import ActionContext
from podium.actions.action_spec import ActionError, action
from podium.actions.files.file_access import module_source
from podium.actions.program_runner import run_in_sandbox
from podium.actions.python import session_client, session_kernel
from podium.text import bounded

STOP_TIMEOUT_S = 30
_LOST = "The earlier session had ended and its variables were lost; this code ran in a new session."
_ENDED = "The session's process ended during this call, so its variables are lost. The next call starts a new session."


@action(title="Python REPL")
async def python_session(context: ActionContext, command: str) -> str:
    """Run Python code in a session that keeps variables, functions and imports between calls.

    If the last line is an expression, its value is shown. The working directory is the workspace.

    Args:
        command: The Python code, one or more lines.

    Returns:
        The output of the code, or its exception.
    """
    if "\0" in command:
        raise ActionError("The code must not contain a null byte.")
    program = [context.python, "-u", "-c", module_source(session_client.__file__)]
    run = [*program, "run", module_source(session_kernel.__file__)]
    result = await context.run_program(run, cwd=context.root, stdin=command, background=True)
    printed = result.stdout.text.strip("\n")
    if result.stopped is not None:
        stop = await run_in_sandbox([*program, "stop"], cwd=context.root, time_s=STOP_TIMEOUT_S)
        kept = "kept" if stop.exit_code == session_client.REPORT | session_client.KEPT else "lost"
        ending = f"The code was stopped: {result.stopped}. The session's variables were {kept}."
        return f"{ending} Output until then:\n{printed or '(none)'}"
    facts = result.exit_code ^ session_client.REPORT
    if not 0 <= facts <= session_client.LOST | session_client.ENDED:
        reason = bounded(result.stderr.text.strip(), 1_000) or f"exit code {result.exit_code}"
        raise ActionError(f"The Python session could not be reached: {reason}")
    notes = [note for fact, note in ((session_client.LOST, _LOST), (session_client.ENDED, _ENDED)) if facts & fact]
    return "\n".join([*notes, printed or "(no output)"])
