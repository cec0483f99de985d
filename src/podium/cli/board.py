"""`podium board`: everything about boards, for those who keep one and those who check one."""

from __future__ import annotations

from pathlib import Path

import click

from podium.cli.options import as_json, print_json, require_extra
from podium.errors import BoardError
from podium.text import plural

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)


@click.group(name="board")
def command() -> None:
    """Keep a board: results of many people, in a ledger that only grows."""
    require_extra("board")


@command.command(name="init")
@click.argument("board", type=FOLDER)
@click.option("--name", help="What the board is called.  [default: the folder's name]")
@as_json
def init(board: Path, name: str | None, as_json: bool) -> None:
    """Make an empty BOARD in a new folder, with a key of its own."""
    from podium.board.ledger import make_board

    ledger = make_board(board, name or board.absolute().name)
    if as_json:
        print_json(ledger.board)
    else:
        click.echo(f"{ledger.board['key']}\nThat is the board's public key. Tell it to everybody who shall trust it.")


@command.command(name="audit")
@click.argument("board", type=FOLDER)
@click.option("--since", type=FILE, help="An older head.json or receipt: prove that history was only extended since.")
@click.option("--public-key", metavar="KEY", help="The board's public key, if you know it from elsewhere.")
@as_json
def audit(board: Path, since: Path | None, public_key: str | None, as_json: bool) -> None:
    """Check the whole ledger of BOARD: every entry, every signature, the head, and that nothing was removed."""
    from podium.board.audit import audit, parse_old_head

    old = parse_old_head(since.read_text(encoding="utf-8")) if since else None
    found = audit(board, since=old, key=public_key)
    if as_json:
        print_json(found.to_dict())
    else:
        for problem in found.problems:
            click.echo(problem)
        click.echo(f"{plural(len(found.entries), 'signed statement')}: {_outcome(found.passed)}")
        if found.unsigned:
            click.echo(f"{found.unsigned} more at the end have not been acknowledged yet.")
    if not found.passed:
        raise BoardError(f"The ledger of {board} does not hold. First: {found.problems[0]}")


@command.command(name="serve")
@click.argument("board", type=FOLDER)
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; put a TLS proxy in front.")
@click.option("--port", type=click.IntRange(0, 65535), default=8770, show_default=True)
@click.option(
    "--rate", type=click.FloatRange(0.1), default=20.0, show_default=True, help="Statements per second and key."
)
def serve(board: Path, host: str, port: int, rate: float) -> None:
    """Serve BOARD to a team: registration, anchors and publishing by HTTP, authenticated by signatures."""
    from podium.board.service import Limits, serve

    serve(board, host=host, port=port, limits=Limits(writes_per_s=rate), ready=lambda address: click.echo(address))


def _outcome(passed: bool) -> str:
    return "the ledger holds" if passed else "THE LEDGER DOES NOT HOLD"
