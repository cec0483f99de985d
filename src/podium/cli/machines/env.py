"""`podium env`: Python environments with machine-learning packages for the programs of agents."""

from __future__ import annotations

import click

from podium.cli.options import as_json, print_json
from podium.sandbox.interpreters.pinned_environments import (
    KINDS,
    broken_modules,
    build,
    folder_of,
    is_built,
    packages,
    remove,
)

KIND = click.argument("kind", type=click.Choice(list(KINDS)))


@click.group(name="env")
def command() -> None:
    """Build Python environments for the programs of agents.

    `podium run … --env cpu` uses one. Without it, programs see the packages that Podium itself runs with.
    """


@command.command(name="build")
@KIND
def build_(kind: str) -> None:
    """Install the pinned packages of KIND into the data home; takes minutes and gigabytes, once."""
    click.echo(f"{kind}: installing {len(packages(kind))} packages; this takes some minutes", err=True)
    folder = build(kind)
    if broken := broken_modules(kind):
        click.echo(
            "These cannot be imported; where torchvision is among them, have pip take torch and torchvision from one "
            "registry:\n  " + "\n  ".join(broken),
            err=True,
        )
    size = sum(path.lstat().st_size for path in folder.rglob("*"))
    click.echo(f"{folder}: {size / 1e9:.1f} GB. Use it: podium run TASK --env {kind}")


@command.command(name="list")
@as_json
def list_(as_json: bool) -> None:
    """Say which environments there are, and which are built."""
    found = [
        {
            "name": kind,
            "what": what,
            "built": is_built(kind),
            "folder": str(folder_of(kind)),
            "packages": packages(kind),
        }
        for kind, what in KINDS.items()
    ]
    if as_json:
        print_json(found)
        return
    for entry in found:
        state = f"in {entry['folder']}" if entry["built"] else f"not built; podium env build {entry['name']}"
        click.echo(f"{entry['name']:4} {entry['what']} ({state})")


@command.command(name="remove")
@KIND
def remove_(kind: str) -> None:
    """Remove the environment KIND from the data home."""
    click.echo(f"{kind} is removed" if remove(kind) else f"{kind} was not built")
