"""`podium import`: takes over what an MLE-bench checkout adds."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from podium.cli.options import as_json, print_json


@click.command(name="import")
@click.argument("path", type=click.Path(exists=True, file_okay=False, path_type=Path))
@as_json
def command(path: Path, as_json: bool) -> None:
    """Take over full leaderboards and original texts from an MLE-bench checkout.

    Ranks and percentiles are exact from then on.
    """
    from podium.catalog import leaderboards
    from podium.data.home import home
    from podium.data.imports import import_checkout

    done = import_checkout(path, list(leaderboards()))
    if as_json:
        print_json(asdict(done))
        return
    click.echo(f"{len(done.leaderboards)} leaderboards and {len(done.descriptions)} descriptions are now in {home()}.")
    if done.pointers:
        click.echo(f"{len(done.pointers)} files are only Git LFS pointers, such as {done.pointers[0]}: git lfs pull")
