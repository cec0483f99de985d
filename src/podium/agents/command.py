"""Any program as an agent, under MLE-bench's contract: its folders, its environment variables, a start command.

Model access is a local endpoint that speaks OpenAI's and Anthropic's protocols, so what it uses is counted and no key
ever enters the sandbox. The program runs as one long step; snapshots are taken while it does.
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
    command: str = Field(description="What to run, by a shell, in /home/agent.")
    files: Path | None = Field(None, description="A folder to copy to /home/agent first.")
    variables: str = Field("", description="Further variables, as NAME=VALUE separated by commas.")


class Command(FixedAgent):
    """Runs any program inside the sandbox, such as an MLE-bench agent."""

    Options = CommandOptions
    serves_model = True
    options: CommandOptions

    @classmethod
    def check(cls, options: CommandOptions) -> None:
        """The folder is there, and so is a program in it that the command starts with."""
        check_variables(options.variables)
        folder = options.files
        if folder is not None and not folder.is_dir():
            raise UsageError(f"-A files={folder}: there is no such folder")
        program = options.command.split(maxsplit=1)[0] if options.command.strip() else ""
        if not program:
            raise UsageError("-A command: say what to run, for example -A command='bash start.sh'")
        if program.startswith("./") and (folder is None or not (folder / program).exists()):
            where = f"{folder} has no such file" if folder else "/home/agent is empty. Name a folder with -A files=DIR"
            raise UsageError(f"-A command={program}: {where}")

    def actions(self) -> list[Action]:
        return [Action(name="run_command", arguments={"command": self.options.command, "folder": "agent"})]

    def files(self) -> Path | None:
        return self.options.files

    def environment(self) -> dict[str, str]:
        return task_environment(self.assignment, self.options.variables)


def check_variables(text: str) -> None:
    """Refuses further variables that have no value.

    Raises:
        UsageError: one has none.
    """
    if wrong := [pair for pair in text.split(",") if pair and "=" not in pair]:
        raise UsageError(f"-A variables: '{wrong[0]}' sets nothing. Write NAME=VALUE, separated by commas")


def task_environment(assignment: Assignment, variables: str) -> dict[str, str]:
    """The variables of MLE-bench's contract, and further ones as options name them."""
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
