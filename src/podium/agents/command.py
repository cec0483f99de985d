"""Any program as an agent, under MLE-bench's contract: its folders, its environment variables, a start command.

Model access is a local endpoint that speaks OpenAI's and Anthropic's protocols, so what it uses is counted and no key
ever enters the sandbox. The program runs as one long step; snapshots are taken while it does.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from podium.agents.base import Options
from podium.agents.fixed import FixedAgent
from podium.errors import UsageError
from podium.workspace.events import Action


class CommandOptions(Options):
    command: str = Field(description="What to run, by a shell, in /home/agent.")
    files: Path | None = Field(None, description="A folder to copy to /home/agent first.")
    variables: str = Field("", description="Further variables, as NAME=VALUE separated by commas.")


class Command(FixedAgent):
    """Runs any program inside the sandbox, such as an MLE-bench agent."""

    Options = CommandOptions
    serves_model = True
    options: CommandOptions

    def actions(self) -> list[Action]:
        return [Action(name="run_command", arguments={"command": self.options.command, "folder": "agent"})]

    def files(self) -> Path | None:
        folder = self.options.files
        if folder is not None and not folder.is_dir():
            raise UsageError(f"-A files={folder}: there is no such folder")
        return folder

    def environment(self) -> dict[str, str]:
        remaining = self.assignment.remaining()
        given = [pair.partition("=") for pair in self.options.variables.split(",") if pair]
        return {
            "SUBMISSION_DIR": "/home/submission",
            "LOGS_DIR": "/home/logs",
            "CODE_DIR": "/home/code",
            "AGENT_DIR": "/home/agent",
            **({} if self.assignment.task.generated else {"COMPETITION_ID": self.assignment.task.id}),
            **({} if remaining.time_s is None else {"TIME_LIMIT_SECS": str(int(remaining.time_s))}),
            **({} if remaining.steps is None else {"STEP_LIMIT": str(remaining.steps)}),
            **{name.strip(): value for name, _, value in given},
        }
