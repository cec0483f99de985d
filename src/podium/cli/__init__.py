"""The command line: one file per command, in a folder per heading of `podium --help`."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from importlib import import_module
from keyword import iskeyword
from typing import Any

import click

from podium.cli.help_examples import epilog
from podium.errors import PodiumError, UsageError, explain
from podium.text import printable

HEADINGS = {
    "Run agents": {
        "run": "Run an agent on tasks and grade what it submits.",
        "resume": "Continue an interrupted experiment.",
        "demo": "Run an agent that needs no model on nine generated competitions.",
        "baseline": "Measure the score of a research task's starter code.",
    },
    "Look at results": {
        "view": "Browse experiments, runs and steps in a web browser.",
        "report": "Show the results of experiments: medals, scores, cost, failures.",
        "compare": "Compare two experiments task by task.",
        "steps": "List the steps of a run, or show one of them.",
        "export": "Export a run as training data, or a task for Harbor.",
    },
    "Tasks": {
        "tasks": "List tasks and suites.",
        "show": "Show a task: goal, metric, submission format, leaderboard.",
        "prepare": "Download and prepare the data of tasks.",
        "validate": "Check the format of a submission; needs no answers.",
        "grade": "Grade a submission: score, medal, percentile.",
        "new-task": "Make a task from your own data.",
        "forge": "Generate a new competition.",
        "import": "Import leaderboards and results from MLE-bench or Harbor.",
    },
    "Agents": {
        "agents": "List, explain and install agents.",
        "shell": "Open a shell in a run that a person works on.",
    },
    "Trust": {
        "verify": "Check a run or an experiment against your own data.",
        "reproduce": "Re-run the code behind a submission and compare the results.",
        "integrity": "Look for cheating, copied code, faulty tasks and contamination.",
        "publish": "Pack an experiment into a signed bundle.",
        "board": "Host, check and serve a leaderboard with an append-only ledger.",
        "key": "Create or show the key that signs what you publish.",
    },
    "Machines": {
        "doctor": "Check what this machine can run and suggest fixes.",
        "env": "Build Python environments for agents' programs.",
        "cluster": "Start and inspect a Ray cluster; write Slurm batch scripts.",
        "completion": "Print the tab-completion script for a shell.",
    },
}
"""Commands and summaries of `podium --help` by heading, so that it imports no command. A test compares them."""
FOLDERS = {
    "Run agents": "running",
    "Look at results": "results",
    "Tasks": "tasks",
    "Agents": "agents",
    "Trust": "trust",
    "Machines": "machines",
}
"""Folders of the commands, by heading."""
COMMANDS = {name: summary for commands in HEADINGS.values() for name, summary in commands.items()}


class LazyGroup(click.Group):
    """Command group that imports the file of a command when the command is called."""

    path = "podium"
    summaries: Mapping[str, str] = COMMANDS

    def module_of(self, name: str) -> str:
        """Return the name of the module that defines a command."""
        folder = next(folder for heading, folder in FOLDERS.items() if name in HEADINGS[heading])
        return f"podium.cli.{folder}.{f'{name}_' if iskeyword(name) else name.replace('-', '_')}"

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.summaries)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self.summaries:
            return None
        command: click.Command = import_module(self.module_of(name)).command
        command.epilog = epilog(f"{self.path} {name}".removeprefix("podium "))
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, commands in self.headings().items():
            with formatter.section(heading):
                formatter.write_dl(list(commands.items()))

    def headings(self) -> Mapping[str, Mapping[str, str]]:
        """Return the commands under the headings of the help page."""
        return HEADINGS

    def resolve_command(self, context: click.Context, args: list[str]) -> Any:
        if args and args[0] not in self.summaries and not args[0].startswith("-"):
            from difflib import get_close_matches

            if args[0] == "help":
                raise click.UsageError(f"To get help, run: {self.path} --help, or {self.path} COMMAND --help", context)
            matches = get_close_matches(args[0], self.summaries, n=1)
            hint = f"Did you mean '{matches[0]}'?" if matches else f"The commands are: {', '.join(self.summaries)}."
            raise click.UsageError(f"There is no command '{args[0]}'. {hint}", context)
        return super().resolve_command(context, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="podium")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def podium(debug: bool) -> None:
    """Measure how well AI agents do machine-learning engineering."""


def main(args: list[str] | None = None) -> None:
    """Run the command line; report a `PodiumError` as one line on standard error and an exit code."""
    args = sys.argv[1:] if args is None else args
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # terminals without ✓ or ↑ show '?'
    try:
        podium.main(args, prog_name="podium")
    except (PodiumError, OSError) as error:
        if "--debug" in args:
            raise
        click.echo(f"Error: {printable(explain(error), lines=True)}", err=True)
        sys.exit(2 if isinstance(error, UsageError) else 1)
