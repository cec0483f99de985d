"""`podium publish`: writes an experiment as one signed file that others can check."""

from __future__ import annotations

from pathlib import Path

import click

from podium.cli.options import as_json, key_file, pairs, print_json, require_extra
from podium.errors import UsageError
from podium.text import format_size, plural


@click.command(name="publish")
@click.argument("experiment", type=click.Path(file_okay=False, path_type=Path))
@key_file
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="The bundle.  [default: EXPERIMENT.zip]")
@click.option("--light", is_flag=True, help="Leave out workspace snapshots: submissions and hashes only.")
@click.option("--logs", is_flag=True, help="Add the transcripts of models.")
@click.option("--by", default="", help="Who publishes: a name, an address.")
@click.option("--licence", default="", help="Under which others may use the bundle, such as CC-BY-4.0.")
@click.option("--notes", default="", help="Anything a reader should know.")
@click.option(
    "--disclose", multiple=True, metavar="NAME=ANSWER", help="What a board asks for: retrieval=none. Repeatable."
)
@click.option("--to", "board", metavar="BOARD", help="Hand it in at a board too: a folder, or an address.")
@as_json
def command(
    experiment: Path,
    key: Path | None,
    out: Path | None,
    light: bool,
    logs: bool,
    disclose: tuple[str, ...],
    board: str | None,
    as_json: bool,
    **said: str,
) -> None:
    """Pack an experiment into a signed bundle."""
    require_extra("board")
    from podium.board.board_client import hand_in, open_board
    from podium.board.bundle import Disclosures, write_bundle
    from podium.board.keys import default_key, read_key
    from podium.board.ledger.statements import first_problem
    from podium.board.register import read_registration
    from podium.runs.experiment import read_experiment

    found = read_experiment(experiment)
    if not any(record.status != "running" for record in found.records()):
        raise UsageError(f"No run of {experiment} has ended: there is nothing to publish.")
    target = out or Path(f"{experiment.absolute().name}.zip")
    try:
        disclosures = Disclosures(**said, answers=pairs(disclose, "--disclose"))
    except ValueError as error:
        raise UsageError(f"This cannot be published: {first_problem(error)}. Say it in fewer words.") from error
    registration = read_registration(experiment)
    signer = read_key(key or default_key())
    known = registration.id if registration else None
    bundle = write_bundle(found, target, signer, disclosures=disclosures, registration=known, light=light, logs=logs)
    if board is not None:
        hand_in(bundle, open_board(board), signer)
    size = target.stat().st_size
    if as_json:
        print_json({"bundle": str(target), "digest": bundle.digest, "bytes": size, "publisher": bundle.publisher})
    else:
        click.echo(f"{target}: {plural(len(bundle.manifest.files), 'file')}, {format_size(size)}")
        click.echo(f"digest {bundle.digest}, signed by {bundle.publisher}")
