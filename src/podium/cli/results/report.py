"""`podium report`: results of experiments on the terminal, as a web page, and as tables for other programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.cli.options import as_json, data_dir, print_json, require_extra, task_folders

if TYPE_CHECKING:
    from podium.report.report_document import Report


def _target(name: str, output: str) -> Callable[[Any], Any]:
    """Return an option for an output file."""
    return click.option(name, type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help=f"Write {output}.")


@click.command(name="report")
@click.argument("experiments", metavar="EXP...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--pad", is_flag=True, help="Count missing runs as failures.  [default: only complete seeds count]")
@click.option("--seeds", metavar="N", type=click.IntRange(1), help="Maximum number of seeds to use.  [default: all]")
@click.option("--suite", metavar="SUITE", help="Only count the tasks of this suite.")
@click.option("--verify", is_flag=True, help="Also verify each run, like podium verify.")
@data_dir
@_target("--html", "a self-contained web page")
@_target("--csv", "all runs as CSV")
@_target("--parquet", "all runs as parquet")
@_target("--latex", "the tables as LaTeX")
@_target("--markdown", "the tables as Markdown")
@_target("--grading-report", "a grading report in the format of MLE-bench")
@task_folders
@as_json
def command(
    experiments: tuple[Path, ...],
    pad: bool,
    seeds: int | None,
    suite: str | None,
    verify: bool,
    data_dir: Path | None,
    as_json: bool,
    **targets: Path | None,
) -> None:
    """Show the results of experiments: medals, scores, cost, failures."""
    require_extra("report")
    from podium.report.report_document import make_report

    report = make_report(experiments, pad=pad, seeds=seeds, suite=suite, verify=verify, data_dir=data_dir)
    if as_json:
        print_json(report.to_dict())
    else:
        from podium.report.rendering.terminal_report import print_shown, show_report

        print_shown(show_report(report))
    for name, path in targets.items():
        if path is not None:
            _write(name, report, path)
            click.echo(f"Wrote {path}", err=True)


def _write(name: str, report: Report, path: Path) -> None:
    from podium.report import export_results
    from podium.report.rendering import result_tables
    from podium.safefs.atomic_files import write_atomically

    match name:
        case "html":
            from podium.report.rendering.html_report import render

            write_atomically(path, render(report))
        case "csv":
            export_results.write_csv(report.results, path)
        case "parquet":
            export_results.write_parquet(report.results, path)
        case "latex":
            write_atomically(path, result_tables.latex(report))
        case "markdown":
            write_atomically(path, result_tables.markdown(report))
        case "grading_report":
            write_atomically(path, export_results.grading_report(report.results, report.references))
