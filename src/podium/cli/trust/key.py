"""`podium key`: key pair for signing published experiments."""

from __future__ import annotations

from pathlib import Path

import click

from podium.cli.options import as_json, key_file, print_json, require_extra


@click.group(name="key")
def command() -> None:
    """Create or show the key that signs what you publish."""


@command.command(name="new")
@key_file
@as_json
def new(key: Path | None, as_json: bool) -> None:
    """Create a key.

    Keep the file secret: anyone who has it can publish in your name.
    """
    require_extra("board")
    from podium.board.keys import default_key, make_key, write_key

    path, created = key or default_key(), make_key()
    write_key(created, path)
    _print_key(path, created.public, as_json=as_json)


@command.command(name="show")
@key_file
@as_json
def show(key: Path | None, as_json: bool) -> None:
    """Show your public key, which identifies you as a publisher."""
    require_extra("board")
    from podium.board.keys import default_key, read_key

    path = key or default_key()
    _print_key(path, read_key(path).public, as_json=as_json)


def _print_key(path: Path, public: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"file": str(path), "public": public})
    else:
        click.echo(f"{public}\nThe private key is in {path}.")
