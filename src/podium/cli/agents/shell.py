"""`podium shell`: where a person works who is the agent of a run."""

from __future__ import annotations

from pathlib import Path

import click

from podium.cli.options import require_extra, task_folders
from podium.errors import UsageError


@click.command(name="shell")
@click.argument("run", type=click.Path(path_type=Path))
@task_folders
def command(run: Path) -> None:
    """Open the shell of a run whose agent is a person."""
    require_extra("run")
    from podium.agents.human.attach import attach
    from podium.runs.attempt.progress_files import is_going
    from podium.runs.experiment import find_run

    found = find_run(run)
    if not is_going(found):
        raise UsageError(f"Nobody works on {run} now. Start or continue it first; a person's is: --agent human")
    if attach(found.workspace) == "left":
        click.echo(f"\nThe run goes on. Come back with: podium shell {run}", err=True)
    else:
        click.echo("\nThe shell has ended; what you left is being graded.", err=True)
