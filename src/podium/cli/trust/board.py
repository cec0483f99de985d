"""`podium board`: everything about boards, for those who keep one and those who check one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from podium.cli.options import Decorated, Parsed, as_json, data_dir, key_file, print_json, require_extra
from podium.errors import BoardError, UsageError
from podium.text import plural, printable

if TYPE_CHECKING:
    from podium.board.check.check_bundle import Judgement
    from podium.board.ledger.audit_ledger import Audit

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)


def _parse_reason(text: str) -> str:
    from podium.board.ledger.statements import MOST_LETTERS

    if len(text) > MOST_LETTERS:
        raise ValueError(f"{len(text):,} letters; a board keeps at most {MOST_LETTERS:,}. Say it in fewer.")
    return text


REASON = Parsed("text", _parse_reason)


def check_options(command: Decorated) -> Decorated:
    """The options that say what a bundle is checked with."""
    env = click.option("--env", type=FOLDER, help="The Python environment for submitted programs.")
    return env(data_dir(command))


@click.group(name="board")
def command() -> None:
    """Keep, check and serve a leaderboard."""
    require_extra("board")


@command.command(name="init")
@click.argument("board", type=FOLDER)
@click.option("--name", help="What the board is called.  [default: the folder's name]")
@as_json
def init(board: Path, name: str | None, as_json: bool) -> None:
    """Make an empty BOARD in a new folder, with a key of its own."""
    from podium.board.ledger.ledger import make_board

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
    from podium.board.ledger.audit_ledger import audit, parse_old_head

    old = parse_old_head(since.read_bytes()) if since else None
    found = audit(board, since=old, key=public_key)
    if as_json:
        print_json(found.to_dict())
    else:
        for problem in found.problems:
            click.echo(printable(problem))
        click.echo(f"{plural(len(found.entries), 'signed statement')}: {_outcome(found.passed)}")
        if found.unsigned:
            click.echo(f"{found.unsigned} more at the end have not been acknowledged yet.")
    if not found.passed:
        raise BoardError(f"The ledger of {board} does not hold. First: {found.problems[0]}")


@command.command(name="check")
@click.argument("bundle", type=FILE)
@click.option("--board", metavar="BOARD", help="The board it is for: a folder, or an address.")
@click.option("--rules", type=FILE, help="The board's rules.  [default: rules.toml of the board]")
@check_options
@as_json
def check(bundle: Path, board: str | None, rules: Path | None, as_json: bool, **own: Path | None) -> None:
    """Judge BUNDLE with your own data: accept, or every reason for refusal. Exits with 1 if it is refused."""
    from podium.board.board_client import open_board

    ledger = open_board(board).read() if board else None
    judgement = _judge(bundle, board, rules, ledger, **own)
    if as_json:
        print_json(judgement.to_dict())
    else:
        _show(judgement)
    if not judgement.accepted:
        raise BoardError(f"{bundle} is refused.")


@command.command(name="add")
@click.argument("board", type=FOLDER)
@click.argument("bundle", type=FILE)
@click.option(
    "--reason",
    type=REASON,
    default="the check found nothing against it",
    show_default=True,
    help="Why it is accepted.",
)
@check_options
def add(board: Path, bundle: Path, reason: str, **own: Path | None) -> None:
    """Check BUNDLE and put it on BOARD; a bundle that is refused leaves no trace."""
    _decide(board, bundle, "accepted", reason, **own)


@command.command(name="rescore")
@click.argument("board", type=FOLDER)
@click.argument("bundle", type=FILE)
@click.option("--reason", type=REASON, required=True, help="Why its row is computed again.")
@check_options
def rescore(board: Path, bundle: Path, reason: str, **own: Path | None) -> None:
    """Check BUNDLE again and replace its row on BOARD, for instance after an answer was mended."""
    _decide(board, bundle, "rescored", reason, **own)


@command.command(name="remove")
@click.argument("board", type=FOLDER)
@click.argument("digest")
@click.option("--reason", type=REASON, required=True, help="Why; it stays on the board.")
def remove(board: Path, digest: str, reason: str) -> None:
    """Take the bundle with DIGEST off the tables of BOARD. The entry and the reason stay in the ledger."""
    from podium.board.ledger.keeper_decisions import decide

    receipt = decide(board, digest, "removed", reason)
    click.echo(f"Entry {receipt.number}: removed.")


@command.command(name="withdraw")
@click.argument("board", metavar="BOARD")
@click.argument("registration")
@click.option("--reason", type=REASON, required=True, help="Why; it stays on the board.")
@key_file
def withdraw(board: str, registration: str, reason: str, key: Path | None) -> None:
    """Give up an experiment that you registered on BOARD, a folder or an address, and say why."""
    from podium.board.board_client import open_board
    from podium.board.keys import HEX64, default_key, read_key
    from podium.board.ledger.statements import Withdrawal, sign

    if not HEX64.fullmatch(registration):
        raise UsageError(
            f"{registration[:80]!r} is not the id of a registration: 64 hexadecimal digits, which registration.json "
            "in the folder of the experiment names as its id."
        )
    found = open_board(board)
    said = Withdrawal(board=found.key, registration=registration, reason=reason)
    receipt = found.append(sign(said, read_key(key or default_key())))
    click.echo(f"Entry {receipt.number}: withdrawn.")


def _judge(bundle: Path, board: str | None, rules: Path | None, ledger: Audit | None, **own: Path | None) -> Judgement:
    from podium.board.board_rules import RULES_FILE, read_rules
    from podium.board.check.check_bundle import check

    if rules is None and (board is None or board.startswith("http")):
        raise UsageError("Say by which rules to judge: --rules rules.toml, or --board FOLDER with rules of its own.")
    return check(bundle, read_rules(rules or Path(str(board), RULES_FILE)), ledger=ledger, **own)


def _decide(
    board: Path, bundle: Path, verdict: Literal["accepted", "rescored"], reason: str, **own: Path | None
) -> None:
    from podium.board.board_client import FolderBoard
    from podium.board.bundle import read_bundle
    from podium.board.ledger.audit_ledger import audit
    from podium.board.ledger.keeper_decisions import decide

    judgement = _judge(bundle, str(board), None, audit(board), **own)
    if not judgement.accepted:
        _show(judgement)
        raise BoardError(f"{bundle} is refused; the board is as it was.")
    FolderBoard(board).upload(read_bundle(bundle))
    receipt = decide(board, judgement.bundle, verdict, reason, row=judgement.row)
    click.echo(f"Entry {receipt.number}: {verdict} {judgement.bundle}")


def _show(judgement: Judgement) -> None:
    click.echo(f"{'ACCEPT' if judgement.accepted else 'REFUSE'} {judgement.bundle or 'unreadable'}")
    for title, lines in (("reason", judgement.reasons), ("remark", judgement.remarks)):
        for line in lines:
            click.echo(f"  {title}: {printable(line)}")
    if judgement.row:
        row = judgement.row
        error = "" if row["sem"] is None else f" ± {row['sem']:.1f}"
        about = f"{row['agent']}{' with ' + row['model'] if row['model'] else ''}"
        click.echo(f"  {about}: {row['mean']:.1f}{error} % {row['measure'].replace('_', ' ')}")
    click.echo("  Not proven: " + "; ".join(judgement.unprovable) + ".")


@command.command(name="build")
@click.argument("board", type=FOLDER)
@click.option("--out", type=FOLDER, required=True, help="The folder of the site.")
def build(board: Path, out: Path) -> None:
    """Write the pages of BOARD as plain files, for any web host."""
    from podium.board.board_site import BoardSite

    click.echo(f"{plural(BoardSite(board, out).build(), 'bundle')} in {out / 'index.html'}")


@command.command(name="serve")
@click.argument("board", type=FOLDER)
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; put a TLS proxy in front.")
@click.option("--port", type=click.IntRange(0, 65535), default=8770, show_default=True)
@click.option(
    "--rate", type=click.FloatRange(0.1), default=20.0, show_default=True, help="Statements per second and key."
)
def serve(board: Path, host: str, port: int, rate: float) -> None:
    """Serve BOARD to a team: registration, anchors and publishing by HTTP, authenticated by signatures."""
    from podium.board.board_service import ClientLimits, serve

    serve(
        board, host=host, port=port, limits=ClientLimits(writes_per_s=rate), ready=lambda address: click.echo(address)
    )


def _outcome(passed: bool) -> str:
    return "the ledger holds" if passed else "THE LEDGER DOES NOT HOLD"
