"""`podium key`: makes and shows the key that signs what somebody publishes."""

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
    """Make a key. Keep the file: who has it can publish in your name."""
    require_extra("board")
    from podium.board.keys import default_key, make_key, write_key

    path, made = key or default_key(), make_key()
    write_key(made, path)
    _tell(path, made.public, as_json=as_json)


@command.command(name="show")
@key_file
@as_json
def show(key: Path | None, as_json: bool) -> None:
    """Show the public half of a key: the name under which you publish."""
    require_extra("board")
    from podium.board.keys import default_key, read_key

    path = key or default_key()
    _tell(path, read_key(path).public, as_json=as_json)


def _tell(path: Path, public: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"file": str(path), "public": public})
    else:
        click.echo(f"{public}\nThe private key is in {path}.")
