"""`podium env`: Python environments with machine-learning packages for agents' programs."""

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
    """Build Python environments for agents' programs.

    Select one with `podium run ... --env cpu`. By default, programs use the packages installed beside Podium.
    """


@command.command(name="build")
@KIND
def build_(kind: str) -> None:
    """Install the pinned packages of the environment KIND.

    This takes several minutes and several gigabytes in $PODIUM_HOME.
    """
    click.echo(f"{kind}: installing {len(packages(kind))} packages; this takes several minutes", err=True)
    folder = build(kind)
    if broken := broken_modules(kind):
        click.echo(
            "Some packages cannot be imported. If torchvision is one of them, configure pip to install torch and "
            "torchvision from the same index:\n  " + "\n  ".join(broken),
            err=True,
        )
    size = sum(path.lstat().st_size for path in folder.rglob("*"))
    click.echo(f"{folder}: {size / 1e9:.1f} GB. Use it with: podium run TASK --env {kind}")


@command.command(name="list")
@as_json
def list_(as_json: bool) -> None:
    """List the environments, and whether they are built."""
    entries = [
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
        print_json(entries)
        return
    for entry in entries:
        state = f"in {entry['folder']}" if entry["built"] else f"not built; run: podium env build {entry['name']}"
        click.echo(f"{entry['name']:4} {entry['what']} ({state})")


@command.command(name="remove")
@KIND
def remove_(kind: str) -> None:
    """Remove the environment KIND."""
    click.echo(f"{kind} has been removed." if remove(kind) else f"{kind} is not built.")
