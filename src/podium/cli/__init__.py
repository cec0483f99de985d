"""The command line: one file per command, imported only when it is called."""

from __future__ import annotations

import io
import sys
from importlib import import_module
from keyword import iskeyword
from typing import Any

import click

from podium.cli.examples import epilog
from podium.errors import PodiumError, UsageError, explain
from podium.text import printable

COMMANDS = {
    "tasks": "List all tasks, or those of a suite.",
    "show": "Show a task: goal, metric, submission form, reference and data.",
    "prepare": "Make the public and private data of tasks.",
    "validate": "Check whether FILE has the form TASK asks for; needs no answers.",
    "grade": "Grade FILE as a submission to TASK: score, medal, percentile.",
    "run": "Let an agent work on tasks, and grade what it submits. Repeat the command to continue an experiment.",
    "resume": "Continue the experiment in DIR with the options it was started with.",
    "baseline": "Measure what the starter code of a research TASK scores, and how much that varies.",
    "cluster": "Carry runs out on many machines: start a Ray cluster, look at it, write a batch script for Slurm.",
    "agents": "List the agents, explain one, or install coding agents.",
    "env": "Make Python environments with machine-learning packages for the programs of agents.",
    "shell": "Open the shell of a RUN whose agent is a person.",
    "steps": "List the steps of a RUN, or show step NUMBER.",
    "verify": "Check a run or an experiment: records, journals, plan and snapshots, and grades with your own data.",
    "reproduce": "Run the code behind a RUN's submission again, in a fresh sandbox from public data.",
    "report": "Show the results of experiments: medals, scores, usage and how certain they are.",
    "compare": "Compare two experiments task by task: difference, interval, p-value.",
    "publish": "Write EXPERIMENT as one signed bundle: plan, records, journals, snapshots and submissions.",
    "key": "Make the key that signs what you publish, or show its public half.",
    "integrity": "Look for what makes results doubtful: actions of agents, copies, faulty tasks, contamination.",
    "board": "Keep a board: results of many people, in a ledger that only grows.",
    "view": "Show the experiments in DIR (default: runs) as web pages, live while runs are going.",
    "forge": "Make a fresh competition of a FAMILY and print its id, or one called NAME from your own data.",
    "new-task": "Make a task NAME from data: split, brief, miniature, and medals from a measured field.",
    "import": "Take over what PATH holds of MLE-bench or Harbor: leaderboards and texts, grading reports, or trials.",
    "export": "Write a RUN as training data, or a TASK as a folder for Harbor.",
    "doctor": "Say what this machine can do: sandbox, GPUs, credentials and so on.",
    "demo": "Let an agent that needs no model work on nine forged competitions, grade it, and write a report.",
    "completion": "Print what makes SHELL complete commands, tasks, suites and agents.",
}
"""What `podium --help` shows; repeated here so that it need not import the commands. A test compares."""


class LazyGroup(click.Group):
    """Imports a command's file when the command is needed."""

    package, summaries, path = "podium.cli", COMMANDS, "podium"

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.summaries)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self.summaries:
            return None
        module = f"{name}_" if iskeyword(name) else name.replace("-", "_")
        command: click.Command = import_module(f"{self.package}.{module}").command
        command.epilog = epilog(f"{self.path} {name}".removeprefix("podium "))
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries.items()))

    def resolve_command(self, context: click.Context, args: list[str]) -> Any:
        if args and args[0] not in self.summaries and not args[0].startswith("-"):
            from difflib import get_close_matches

            if args[0] == "help":
                raise click.UsageError(f"Help is an option: {self.path} --help, or {self.path} COMMAND --help", context)
            close = get_close_matches(args[0], self.summaries, n=1)
            hint = f" Did you mean '{close[0]}'?" if close else f" The commands are: {', '.join(self.summaries)}."
            raise click.UsageError(f"There is no command '{args[0]}'.{hint}", context)
        return super().resolve_command(context, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="podium")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def podium(debug: bool) -> None:
    """Measure how well AI agents do machine-learning engineering."""


def main(args: list[str] | None = None) -> None:
    """Runs the command line; errors meant for people become one line and an exit code."""
    args = sys.argv[1:] if args is None else args
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no ✓ or ↑ shows '?', and no traceback
    try:
        podium.main(args, prog_name="podium")
    except (PodiumError, OSError) as error:
        if "--debug" in args:
            raise
        click.echo(f"Error: {printable(explain(error), lines=True)}", err=True)
        sys.exit(2 if isinstance(error, UsageError) else 1)
