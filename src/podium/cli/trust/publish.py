"""`podium publish`: signed bundle of an experiment that others can check."""

from __future__ import annotations

from pathlib import Path

import click

from podium.cli.options import as_json, key_file, parse_pairs, print_json, require_extra
from podium.errors import UsageError
from podium.text import format_size, plural


@click.command(name="publish")
@click.argument("experiment", type=click.Path(file_okay=False, path_type=Path))
@key_file
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="File for the bundle.  [default: EXPERIMENT.zip]"
)
@click.option("--light", is_flag=True, help="Include only submissions and hashes, no workspace snapshots.")
@click.option("--logs", is_flag=True, help="Include the transcripts of model calls.")
@click.option("--by", default="", metavar="PUBLISHER", help="Name and contact of the publisher.")
@click.option("--licence", default="", metavar="LICENCE", help="Licence of the bundle, such as CC-BY-4.0.")
@click.option("--notes", default="", metavar="TEXT", help="Notes for readers.")
@click.option(
    "--disclose",
    multiple=True,
    metavar="NAME=ANSWER",
    help="Disclosure that a board requires, such as retrieval=none. Repeatable.",
)
@click.option("--to", "board", metavar="BOARD", help="Also submit the bundle to this board: a folder or a URL.")
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
    **statements: str,
) -> None:
    """Pack an experiment into a signed bundle."""
    require_extra("board")
    from podium.board.board_client import hand_in, open_board
    from podium.board.bundle import Disclosures, write_bundle
    from podium.board.keys import default_key, read_key
    from podium.board.ledger.statements import first_problem
    from podium.board.register import read_registration
    from podium.runs.experiment import read_experiment

    source = read_experiment(experiment)
    if not any(record.status != "running" for record in source.records()):
        raise UsageError(f"{experiment} has no finished run to publish. Continue it with: podium resume {experiment}")
    target = out or Path(f"{experiment.absolute().name}.zip")
    try:
        disclosures = Disclosures(**statements, answers=parse_pairs(disclose, "--disclose"))
    except ValueError as error:
        raise UsageError(f"The disclosures are invalid: {first_problem(error)}. Shorten or correct them.") from error
    registration = read_registration(experiment)
    signer = read_key(key or default_key())
    registered = registration.id if registration else None
    bundle = write_bundle(
        source, target, signer, disclosures=disclosures, registration=registered, light=light, logs=logs
    )
    if board is not None:
        hand_in(bundle, open_board(board), signer)
    size = target.stat().st_size
    if as_json:
        print_json({"bundle": str(target), "digest": bundle.digest, "bytes": size, "publisher": bundle.publisher})
    else:
        click.echo(f"{target}: {plural(len(bundle.manifest.files), 'file')}, {format_size(size)}")
        click.echo(f"digest {bundle.digest}, signed by {bundle.publisher}")
