"""`podium reproduce`: runs the code behind a submission again."""

from __future__ import annotations

from pathlib import Path

import click

from podium.cli.options import as_json, data_dir, key_file, print_json, require_extra, task_folders
from podium.errors import PodiumError, UsageError
from podium.text import printable


@click.command(name="reproduce")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--env", type=click.Path(file_okay=False, path_type=Path), help="The Python environment inside.")
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="Runs at most, to see the noise.")
@click.option("--register", "board", metavar="BOARD", help="Tell a board of the outcome.")
@click.option("--bundle", metavar="DIGEST", help="With --register: the bundle that the run belongs to.")
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
    """Run the code behind a submission again.

    The winning script of a search, or what the journal says produced the submission, or /home/code/reproduce.sh. The
    result is the same submission, or one as good as repeated runs are, or not. Exits with 1 if it is not.
    """
    require_extra("run")
    from podium.runs.experiment import find_run
    from podium.verify.reproduce_run import reproduce

    if board is not None:
        _check_telling(bundle, key)
    folder = find_run(run)
    found = reproduce(folder, data_dir=data_dir, env=env, repeats=repeats)
    if board is not None:
        _tell(board, bundle, key, folder.path.parent.name, int(folder.path.name), found.outcome, found.detail)
    if as_json:
        print_json(found.to_dict())
    else:
        told = f"{found.outcome}: {found.detail}{f' ({found.recipe})' if found.recipe else ''}"
        click.echo(printable(told, lines=True))
    if found.outcome not in ("identical", "equivalent"):
        raise PodiumError(f"{run} was not reproduced.")


def _check_telling(bundle: str | None, key: Path | None) -> None:
    """Whether a board can be told, before anything is computed.

    Raises:
        UsageError: the bundle is not named.
        BoardError: there is no key.
    """
    require_extra("board")
    from podium.board.keys import HEX64, default_key, read_key

    if bundle is None or not HEX64.fullmatch(bundle):
        raise UsageError("--register needs --bundle DIGEST: the 64 hexadecimal digits that podium publish printed.")
    read_key(key or default_key())


def _tell(board: str, bundle: str | None, key: Path | None, task: str, seed: int, outcome: str, detail: str) -> None:
    """Appends the outcome to a board's ledger."""
    from podium.board.board_client import open_board
    from podium.board.keys import default_key, read_key
    from podium.board.ledger.statements import ReproductionStatement, sign

    found = open_board(board)
    said = ReproductionStatement.model_validate(
        {"board": found.key, "bundle": bundle, "task": task, "seed": seed, "outcome": outcome, "detail": detail[:2000]}
    )
    receipt = found.append(sign(said, read_key(key or default_key())))
    click.echo(f"Entry {receipt.number} of {found.address}.", err=True)
