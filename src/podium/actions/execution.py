"""Actions that run scripts and shell commands."""

from __future__ import annotations

import shlex

from podium.actions.action_context import ActionContext
from podium.actions.action_spec import ActionError, action
from podium.actions.files.file_access import call_file_helper
from podium.sandbox.program_result import ProgramResult
from podium.text import MAX_OBSERVATION_CHARACTERS, bounded
from podium.workspace.journal.observations import ProgramOutput


@action()
async def execute_script(context: ActionContext, script_name: str, arguments: str = "") -> ProgramOutput:
    """Run a Python script in the workspace and wait for it to finish.

    Args:
        script_name: The script, relative to the workspace.
        arguments: Command-line arguments of the script, quoted as in a shell.

    Returns:
        The output: stdout if the script succeeded (stderr if stdout is empty), stderr and the exit code if it failed.
    """
    script = _without_null(await call_file_helper(context, "find", name=script_name), "The name of the script")
    try:
        words = shlex.split(_without_null(arguments, "The arguments"))
    except ValueError as error:
        raise ActionError(f"The arguments cannot be read as shell words: {error}.") from error
    # Python would take a name such as -c.py for an option.
    command = [context.python, "-u", f"./{script}", *words]
    return program_output(await context.run_program(command, cwd=context.root), script_name)


@action()
async def run_command(context: ActionContext, command: str, folder: str = ".") -> ProgramOutput:
    """Run a shell command and wait for it to finish. Each command runs in a new shell.

    Args:
        command: The command.
        folder: Where to run it, relative to the workspace.

    Returns:
        The exit code and the output.
    """
    program = ["/bin/sh", "-c", _without_null(command, "The command")]
    folder = _without_null(folder, "The folder")
    return program_output(await context.run_program(program, cwd=f"{context.root}/{folder}"))


def _without_null(text: str, what: str) -> str:
    if "\0" in text:
        raise ActionError(f"{what} must not contain a null byte.")
    return text


def program_output(result: ProgramResult, script: str | None = None) -> ProgramOutput:
    """Return the observation of a finished program, with its output cut to the length of an observation."""
    stdout, stderr, half = result.stdout.text, result.stderr.text, MAX_OBSERVATION_CHARACTERS // 2
    return ProgramOutput(
        script=script,
        exit_code=None if result.stopped else result.exit_code,
        stopped=result.stopped,
        stdout=bounded(stdout, max(half, 2 * half - len(stderr))),
        stderr=bounded(stderr, max(half, 2 * half - len(stdout))),
    )
