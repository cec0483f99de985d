"""`podium compare`: paired comparison of two experiments with significance tests."""

from __future__ import annotations

from pathlib import Path

import click

from podium.cli.options import as_json, print_json, require_extra, task_folders


@click.command(name="compare")
@click.argument("first", metavar="A", type=click.Path(path_type=Path))
@click.argument("second", metavar="B", type=click.Path(path_type=Path))
@click.option("--pad", is_flag=True, help="Count missing runs as failures.")
@task_folders
@as_json
def command(first: Path, second: Path, pad: bool, as_json: bool) -> None:
    """Compare two experiments task by task."""
    require_extra("report")
    from podium.report.comparison import compare
    from podium.report.results import read_all_results

    results = read_all_results([first, second])
    if len(results) < 2:
        raise click.UsageError("A and B are the same folder. Give two different experiments.")
    comparison = compare(*results, pad=pad)
    if as_json:
        print_json(comparison.to_dict())
        return
    from podium.report.rendering.terminal_report import print_shown, show_comparison

    print_shown(show_comparison(comparison))
