"""`podium view`: experiments, runs and steps in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from podium.cli.options import require_extra, task_folders

if TYPE_CHECKING:
    from podium.viewer.page_site import Site


@click.command(name="view")
@click.argument("folder", metavar="[DIR]", type=click.Path(path_type=Path), default="runs")
@click.option("--port", type=click.IntRange(0, 65535), help="The port; 0 for any.  [default: 8765, or any free one]")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to serve at; only this machine's.")
@task_folders
def command(folder: Path, port: int | None, host: str) -> None:
    """Browse experiments, runs and steps in a web browser."""
    require_extra("view")
    from podium.viewer.server import serve

    def ready(address: str, site: Site) -> None:
        found = site.index.experiments()
        runs = sum(status.runs for status in found)
        click.echo(f"{len(found):,} experiment{'s' * (len(found) != 1)}, {runs:,} runs in {folder}", err=True)
        click.echo(f"Open {address}")
        click.echo("Ctrl-C ends.", err=True)

    serve(folder, host=host, port=port, ready=ready)
