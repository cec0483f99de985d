"""`podium forge`: makes a fresh competition."""

from __future__ import annotations

import secrets
from pathlib import Path

import click

from podium.cli.options import as_json, data_dir, print_json


@click.command(name="forge")
@click.argument("family")
@click.option("--seed", type=int, help="What the competition is drawn from.  [default: a fresh random one]")
@click.option("--difficulty", default="medium", show_default=True, help="easy, medium or hard.")
@data_dir
@as_json
def command(family: str, seed: int | None, difficulty: str, data_dir: Path | None, as_json: bool) -> None:
    """Make a fresh competition of a FAMILY and print its id.

    Draws the data, trains the field of entrants that forms its leaderboard (a minute or so), and prepares the task.
    The id works wherever a task id does. An unknown family answers with the list of families.
    """
    from podium import api
    from podium.catalog.forge import forge_id
    from podium.cli.progress import show_progress

    parts = forge_id(family, difficulty, secrets.randbelow(10**9) if seed is None else seed)
    with show_progress("Forging", 1) as progress:
        done = api.prepare(str(parts), data_dir=data_dir)
        progress.advance(f"{parts}: {done.status}")
    if as_json:
        print_json({"task": str(parts), "data": str(done.place.root), "status": done.status})
    else:
        click.echo(str(parts))
