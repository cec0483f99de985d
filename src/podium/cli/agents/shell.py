"""`podium shell`: shell of a person who works on a run in place of an agent."""

from __future__ import annotations

from pathlib import Path

import click

from podium.cli.options import require_extra, task_folders
from podium.errors import UsageError


@click.command(name="shell")
@click.argument("run", type=click.Path(path_type=Path))
@task_folders
def command(run: Path) -> None:
    """Open a shell in a run that a person works on.

    The run must be in progress and must have been started with --agent human.
    """
    require_extra("run")
    from podium.agents.human.attach import attach
    from podium.runs.attempt.progress_files import has_running_attempt
    from podium.runs.experiment import find_run

    folder = find_run(run)
    if not has_running_attempt(folder):
        raise UsageError(f"{run} is not in progress. Start or resume it first, with --agent human.")
    if attach(folder.workspace) == "left":
        click.echo(f"\nThe run continues. Reconnect with: podium shell {run}", err=True)
    else:
        click.echo("\nThe shell has ended. Your submission is being graded.", err=True)
