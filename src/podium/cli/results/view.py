"""`podium view`: web pages of experiments, runs and steps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from podium.cli.options import require_extra, task_folders
from podium.text import plural

if TYPE_CHECKING:
    from podium.viewer.page_site import Site


@click.command(name="view")
@click.argument("folder", metavar="[DIR]", type=click.Path(path_type=Path), default="runs")
@click.option(
    "--port",
    metavar="PORT",
    type=click.IntRange(0, 65535),
    help="Port; 0 for any free one.  [default: 8765, or any free one]",
)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on.")
@task_folders
def command(folder: Path, port: int | None, host: str) -> None:
    """Browse experiments, runs and steps in a web browser."""
    require_extra("view")
    from podium.viewer.web_server import serve

    def ready(address: str, site: Site) -> None:
        experiments = site.index.experiments()
        runs = sum(status.runs for status in experiments)
        click.echo(f"{plural(len(experiments), 'experiment')}, {plural(runs, 'run')} in {folder}", err=True)
        click.echo(f"Open {address}")
        click.echo("Press Ctrl-C to stop.", err=True)

    serve(folder, host=host, port=port, ready=ready)
