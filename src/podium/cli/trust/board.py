"""`podium board`: hosting, auditing and publishing to leaderboards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from podium.cli.options import Decorated, Parsed, as_json, data_dir, key_file, print_json, require_extra
from podium.errors import BoardError, UsageError
from podium.text import plural, printable

if TYPE_CHECKING:
    from podium.board.check.check_bundle import BundleCheck
    from podium.board.ledger.audit_ledger import Audit

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)


def _parse_reason(text: str) -> str:
    from podium.board.ledger.statements import MAX_TEXT_CHARACTERS

    if len(text) > MAX_TEXT_CHARACTERS:
        raise ValueError(f"{len(text):,} characters; at most {MAX_TEXT_CHARACTERS:,} are allowed. Shorten it.")
    return text


REASON = Parsed("text", _parse_reason)


def check_options(command: Decorated) -> Decorated:
    """Add the options for the data and environment that a bundle is checked with."""
    env = click.option("--env", type=FOLDER, help="Python environment for submitted programs.")
    return env(data_dir(command))


@click.group(name="board")
def command() -> None:
    """Host, check and serve a leaderboard with an append-only ledger."""
    require_extra("board")


@command.command(name="init")
@click.argument("board", type=FOLDER)
@click.option("--name", metavar="NAME", help="Name of the board.  [default: the name of the folder]")
@as_json
def init(board: Path, name: str | None, as_json: bool) -> None:
    """Create an empty BOARD with its own key in a new folder."""
    from podium.board.ledger.ledger import make_board

    ledger = make_board(board, name or board.absolute().name)
    if as_json:
        print_json(ledger.board)
    else:
        click.echo(ledger.board["key"])
        click.echo("This is the public key of the board. Share it with everyone who should trust the board.")


@command.command(name="audit")
@click.argument("board", type=FOLDER)
@click.option(
    "--since", type=FILE, help="Older head.json or receipt: prove that the ledger has only been extended since."
)
@click.option("--public-key", metavar="KEY", help="Public key of the board, if you have it from another source.")
@as_json
def audit(board: Path, since: Path | None, public_key: str | None, as_json: bool) -> None:
    """Audit the ledger of BOARD.

    Checks all entries and signatures, the head, and that nothing was removed.
    """
    from podium.board.ledger.audit_ledger import audit, parse_old_head

    old = parse_old_head(since.read_bytes()) if since else None
    result = audit(board, since=old, key=public_key)
    if as_json:
        print_json(result.to_dict())
    else:
        for problem in result.problems:
            click.echo(printable(problem))
        click.echo(f"{plural(len(result.entries), 'signed statement')}: {_outcome(result.passed)}")
        if result.unsigned:
            click.echo(f"{plural(result.unsigned, 'further statement')} at the end not acknowledged yet.")
    if not result.passed:
        raise BoardError(f"The ledger of {board} is invalid. First problem: {result.problems[0]}")


@command.command(name="check")
@click.argument("bundle", type=FILE)
@click.option("--board", metavar="BOARD", help="Board of the bundle: a folder or a URL.")
@click.option("--rules", type=FILE, help="Rules of the board.  [default: rules.toml of the board]")
@check_options
@as_json
def check(bundle: Path, board: str | None, rules: Path | None, as_json: bool, **own: Path | None) -> None:
    """Check BUNDLE against your own data.

    Prints ACCEPT, or REJECT with all reasons. The exit code is 1 if the bundle is rejected.
    """
    from podium.board.board_client import open_board

    ledger = open_board(board).read() if board else None
    judgement = _judge(bundle, board, rules, ledger, **own)
    if as_json:
        print_json(judgement.to_dict())
    else:
        _show(judgement)
    if not judgement.accepted:
        raise BoardError(f"{bundle} is rejected.")


@command.command(name="add")
@click.argument("board", type=FOLDER)
@click.argument("bundle", type=FILE)
@click.option(
    "--reason",
    type=REASON,
    default="all checks passed",
    show_default=True,
    help="Reason for accepting it.",
)
@check_options
def add(board: Path, bundle: Path, reason: str, **own: Path | None) -> None:
    """Check BUNDLE and add it to BOARD.

    A rejected bundle leaves no trace.
    """
    _decide(board, bundle, "accepted", reason, **own)


@command.command(name="rescore")
@click.argument("board", type=FOLDER)
@click.argument("bundle", type=FILE)
@click.option("--reason", type=REASON, required=True, help="Reason for checking it again.")
@check_options
def rescore(board: Path, bundle: Path, reason: str, **own: Path | None) -> None:
    """Check BUNDLE again and replace its row on BOARD.

    Use it, for example, after the answers of a task were corrected.
    """
    _decide(board, bundle, "rescored", reason, **own)


@command.command(name="remove")
@click.argument("board", type=FOLDER)
@click.argument("digest")
@click.option("--reason", type=REASON, required=True, help="Reason, which stays in the ledger.")
def remove(board: Path, digest: str, reason: str) -> None:
    """Remove the bundle with DIGEST from the tables of BOARD.

    Its entry and the reason stay in the ledger.
    """
    from podium.board.ledger.keeper_decisions import decide

    receipt = decide(board, digest, "removed", reason)
    click.echo(f"Entry {receipt.number}: removed.")


@command.command(name="withdraw")
@click.argument("board", metavar="BOARD")
@click.argument("registration")
@click.option("--reason", type=REASON, required=True, help="Reason, which stays in the ledger.")
@key_file
def withdraw(board: str, registration: str, reason: str, key: Path | None) -> None:
    """Withdraw an experiment that you registered on BOARD.

    BOARD is a folder or a URL. REGISTRATION is the id in registration.json.
    """
    from podium.board.board_client import open_board
    from podium.board.keys import HEX64, default_key, read_key
    from podium.board.ledger.statements import Withdrawal, sign

    if not HEX64.fullmatch(registration):
        raise UsageError(
            f"{registration[:80]!r} is not the id of a registration. It has 64 hexadecimal digits: "
            "the 'id' in registration.json in the folder of the experiment."
        )
    opened = open_board(board)
    withdrawal = Withdrawal(board=opened.key, registration=registration, reason=reason)
    receipt = opened.append(sign(withdrawal, read_key(key or default_key())))
    click.echo(f"Entry {receipt.number}: withdrawn.")


def _judge(
    bundle: Path, board: str | None, rules: Path | None, ledger: Audit | None, **own: Path | None
) -> BundleCheck:
    from podium.board.board_rules import RULES_FILE, read_rules
    from podium.board.check.check_bundle import check

    if rules is None and (board is None or board.startswith("http")):
        raise UsageError("Name the rules to check: --rules rules.toml, or --board FOLDER with its own rules.")
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
        raise BoardError(f"{bundle} is rejected. The board has not been changed.")
    FolderBoard(board).upload(read_bundle(bundle))
    receipt = decide(board, judgement.bundle, verdict, reason, row=judgement.row)
    click.echo(f"Entry {receipt.number}: {verdict} {judgement.bundle}")


def _show(judgement: BundleCheck) -> None:
    click.echo(f"{'ACCEPT' if judgement.accepted else 'REJECT'} {judgement.bundle or 'unreadable'}")
    for title, lines in (("reason", judgement.reasons), ("remark", judgement.remarks)):
        for line in lines:
            click.echo(f"  {title}: {printable(line)}")
    if judgement.row:
        row = judgement.row
        error = "" if row["sem"] is None else f" ± {row['sem']:.1f}"
        source = f"{row['agent']}{' with ' + row['model'] if row['model'] else ''}"
        click.echo(f"  {source}: {row['mean']:.1f}{error} % {row['measure'].replace('_', ' ')}")
    click.echo("  Not proven: " + "; ".join(judgement.unprovable) + ".")


@command.command(name="build")
@click.argument("board", type=FOLDER)
@click.option("--out", type=FOLDER, required=True, help="Folder for the pages.")
def build(board: Path, out: Path) -> None:
    """Write the pages of BOARD as static files for any web host."""
    from podium.board.board_site import BoardSite

    click.echo(f"{plural(BoardSite(board, out).build(), 'bundle')} in {out / 'index.html'}")


@command.command(name="serve")
@click.argument("board", type=FOLDER)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address to listen on; use a TLS proxy for the Internet.",
)
@click.option("--port", metavar="PORT", type=click.IntRange(0, 65535), default=8770, show_default=True, help="Port.")
@click.option(
    "--rate",
    metavar="N",
    type=click.FloatRange(0.1),
    default=20.0,
    show_default=True,
    help="Rate limit per key, in statements per second.",
)
def serve(board: Path, host: str, port: int, rate: float) -> None:
    """Serve BOARD over HTTP for registering, anchoring and publishing.

    Requests are authenticated by signatures.
    """
    from podium.board.board_service import ClientLimits, serve

    serve(
        board, host=host, port=port, limits=ClientLimits(writes_per_s=rate), ready=lambda address: click.echo(address)
    )


def _outcome(passed: bool) -> str:
    return "the ledger is valid" if passed else "THE LEDGER IS INVALID"
