"""`podium reproduce`: re-runs the code behind a submission."""

from __future__ import annotations

from pathlib import Path

import click

from podium.cli.options import as_json, data_dir, key_file, print_json, require_extra, task_folders
from podium.errors import PodiumError, UsageError
from podium.text import printable


@click.command(name="reproduce")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--env",
    type=click.Path(file_okay=False, path_type=Path),
    help="Python environment for the code.  [default: Podium's own]",
)
@click.option(
    "--repeats",
    metavar="N",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Maximum number of runs, to estimate the noise.",
)
@click.option("--register", "board", metavar="BOARD", help="Record the outcome in the ledger of this board.")
@click.option("--bundle", metavar="DIGEST", help="With --register: digest of the bundle that contains the run.")
@key_file
@data_dir
@task_folders
@as_json
def command(
    run: Path,
    env: Path | None,
    repeats: int,
    board: str | None,
    bundle: str | None,
    key: Path | None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Re-run the code behind a submission and compare the results.

    The code is the winning script of a search, the program that wrote the submission according to the journal, or
    /home/code/reproduce.sh. The outcome is 'identical', or 'equivalent' if the score is within the noise of repeated
    runs. For any other outcome the exit code is 1.
    """
    require_extra("run")
    from podium.runs.experiment import find_run
    from podium.verify.reproduce_run import reproduce

    if board is not None:
        _check_registration(bundle, key)
    folder = find_run(run)
    reproduction = reproduce(folder, data_dir=data_dir, env=env, repeats=repeats)
    if board is not None:
        task, seed = folder.path.parent.name, int(folder.path.name)
        _register(board, bundle, key, task, seed, reproduction.outcome, reproduction.detail)
    if as_json:
        print_json(reproduction.to_dict())
    else:
        recipe = f" ({reproduction.recipe})" if reproduction.recipe else ""
        click.echo(printable(f"{reproduction.outcome}: {reproduction.detail}{recipe}", lines=True))
    if reproduction.outcome not in ("identical", "equivalent"):
        raise PodiumError(f"{run} was not reproduced.")


def _check_registration(bundle: str | None, key: Path | None) -> None:
    """Check the bundle and the key for `--register` before anything is computed.

    Raises:
        UsageError: `--bundle` is missing or not a digest.
        BoardError: there is no key.
    """
    require_extra("board")
    from podium.board.keys import HEX64, default_key, read_key

    if bundle is None or not HEX64.fullmatch(bundle):
        raise UsageError("--register requires --bundle DIGEST, the 64 hexadecimal digits printed by podium publish.")
    read_key(key or default_key())


def _register(
    board: str, bundle: str | None, key: Path | None, task: str, seed: int, outcome: str, detail: str
) -> None:
    """Append the outcome to the ledger of a board."""
    from podium.board.board_client import open_board
    from podium.board.keys import default_key, read_key
    from podium.board.ledger.statements import ReproductionStatement, sign

    opened = open_board(board)
    statement = ReproductionStatement.model_validate(
        {"board": opened.key, "bundle": bundle, "task": task, "seed": seed, "outcome": outcome, "detail": detail[:2000]}
    )
    receipt = opened.append(sign(statement, read_key(key or default_key())))
    click.echo(f"Recorded as entry {receipt.number} of {opened.address}.", err=True)
