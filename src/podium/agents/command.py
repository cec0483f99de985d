"""Agent that runs any program under MLE-bench's contract: its folders, environment variables and a start command.

The program reaches its model through a local endpoint with OpenAI's and Anthropic's protocols, so its usage is counted
and no key ever enters the sandbox. It runs as one long step, during which snapshots are taken.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from podium.agents.base import Assignment, Options
from podium.agents.scripted_base import FixedAgent
from podium.catalog.obfuscation.obfuscate import plain_id
from podium.errors import UsageError
from podium.workspace.journal.events import Action


class CommandOptions(Options):
    command: str = Field(description="Shell command to run in /home/agent.")
    files: Path | None = Field(None, description="Folder to copy to /home/agent before the start.")
    variables: str = Field("", description="Additional environment variables: NAME=VALUE, separated by commas.")


class Command(FixedAgent):
    """Runs any program inside the sandbox, such as an MLE-bench agent."""

    Options = CommandOptions
    serves_model = True
    options: CommandOptions

    @classmethod
    def check(cls, options: CommandOptions) -> None:
        """Raise an error if the folder or a program that the command starts with does not exist."""
        check_variables(options.variables)
        folder = options.files
        if folder is not None and not folder.is_dir():
            raise UsageError(f"The folder of -A files={folder} does not exist.")
        program = options.command.split(maxsplit=1)[0] if options.command.strip() else ""
        if not program:
            raise UsageError("-A command is empty. Set it to a shell command, for example: -A command='bash start.sh'")
        if program.startswith("./") and (folder is None or not (folder / program).exists()):
            if folder is None:
                raise UsageError(f"-A command starts {program}, but /home/agent is empty. Add a folder: -A files=DIR")
            raise UsageError(f"-A command starts {program}, but {folder} does not contain this file.")

    def actions(self) -> list[Action]:
        return [Action(name="run_command", arguments={"command": self.options.command, "folder": "agent"})]

    def files(self) -> Path | None:
        return self.options.files

    def environment(self) -> dict[str, str]:
        return task_environment(self.assignment, self.options.variables)


def check_variables(text: str) -> None:
    """Raise an error for additional variables without a value.

    Raises:
        UsageError: a variable has no value.
    """
    if wrong := [pair for pair in text.split(",") if pair and "=" not in pair]:
        raise UsageError(f"-A variables: '{wrong[0]}' has no value. Write NAME=VALUE, separated by commas.")


def task_environment(assignment: Assignment, variables: str) -> dict[str, str]:
    """Return the variables of MLE-bench's contract and the additional ones from the options."""
    remaining, task = assignment.remaining(), assignment.task
    is_secret = task.generated or plain_id(task.id) != task.id
    given = [pair.partition("=") for pair in variables.split(",") if pair]
    return {
        "SUBMISSION_DIR": "/home/submission",
        "LOGS_DIR": "/home/logs",
        "CODE_DIR": "/home/code",
        "AGENT_DIR": "/home/agent",
        **({} if is_secret else {"COMPETITION_ID": task.id}),
        **({} if remaining.time_s is None else {"TIME_LIMIT_SECS": str(int(remaining.time_s))}),
        **({} if remaining.steps is None else {"STEP_LIMIT": str(remaining.steps)}),
        **{name.strip(): value for name, _, value in given},
    }
