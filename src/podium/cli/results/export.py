"""`podium export`: a run as training conversations, or a task as a Harbor folder."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import click

from podium.cli.options import as_json, data_dir, print_json, require_extra, task_folders
from podium.errors import UsageError

FORMATS = ("messages", "tokens", "harbor")


@click.command(name="export")
@click.argument("what", metavar="RUN|TASK|SUITE")
@click.option("--format", "format_", type=click.Choice(FORMATS), required=True, help="Output format.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Output file or folder.  [default: RUN/FORMAT.parquet, or harbor/]"
)
@click.option("--miniature", is_flag=True, help="With --format harbor: use fabricated data for competitions.")
@data_dir
@task_folders
@as_json
def command(what: str, format_: str, out: Path | None, miniature: bool, data_dir: Path | None, as_json: bool) -> None:
    """Export a run as training data, or a task for Harbor.

    messages: the conversations of a run, one per row, with the reward of each step. tokens: each model response with
    token ids, log-probabilities and masks, if the provider returned them. Both are parquet files without answers of the
    task and without API keys. harbor: instruction, environment and verifier of a task, or of each task of a suite.
    """
    require_extra("run")
    if format_ == "harbor":
        written = _export_tasks(what, out or Path("harbor"), data_dir, miniature=miniature)
        print_json([str(path) for path in written]) if as_json else click.echo("\n".join(map(str, written)))
        return
    from podium.environment.export_conversations import Format, export_run
    from podium.runs.experiment import find_run

    if miniature or data_dir:
        raise UsageError("--miniature and --data-dir require --format harbor.")
    if out and out.suffix != ".parquet":
        raise UsageError(f"--out {out}: the output is a parquet file. Give a name that ends with .parquet.")
    run = find_run(Path(what))
    target = out or run.path / f"{format_}.parquet"
    rows = export_run(run, target, cast("Format", format_))
    print_json({"file": str(target), "rows": rows}) if as_json else click.echo(str(target))


def _export_tasks(what: str, out: Path, data_dir: Path | None, *, miniature: bool) -> list[Path]:
    from podium.catalog.registry import expand
    from podium.interop.harbor_export import export_task

    return [export_task(task, out, data_dir=data_dir, miniature=miniature) for task in expand([what])]
