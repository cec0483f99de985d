"""`podium grade`: score and rank of one submission or of a list of submissions."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.cli.machines.completion import complete_task
from podium.cli.options import as_json, data_dir, edition, print_json, task_folders
from podium.text import miniature_warning, plural

if TYPE_CHECKING:
    from podium.grading.grade import Grade


@click.command(name="grade")
@click.argument("task", required=False, shell_complete=complete_task)
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--jsonl",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Grade a list: one JSON object per line with competition_id and submission_path.",
)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="With --jsonl: folder for the report.")
@click.option(
    "--jobs", metavar="N", type=click.IntRange(1), help="With --jsonl: number of CPU cores to use.  [default: all]"
)
@data_dir
@edition
@task_folders
@as_json
def command(
    task: str | None,
    file: Path | None,
    jsonl: Path | None,
    out: Path | None,
    jobs: int | None,
    data_dir: Path | None,
    edition: Any,
    as_json: bool,
) -> None:
    """Grade a submission: score, medal, percentile.

    For tasks whose submission is a program or weights, FILE is the folder with these files. With --jsonl and --out,
    grade a list of submissions and write a report in the format of MLE-bench.
    """
    if jsonl and out and not task:
        document = _grade_list(jsonl, out, jobs or len(os.sched_getaffinity(0)), data_dir, edition)
        if as_json:
            print_json(document)
        return
    if task is None or file is None or jsonl or out:
        raise click.UsageError("Give either TASK and FILE, or --jsonl FILE and --out DIR.")
    from podium import api

    result = api.grade(task, file, data_dir=data_dir, edition=edition)
    if as_json:
        print_json(result.to_dict())
    else:
        click.echo("\n".join(_lines(result)))


def _grade_list(jsonl: Path, out: Path, jobs: int, data_dir: Path | None, edition: Any) -> dict[str, Any]:
    from podium.catalog.registry import load
    from podium.cli.progress_bars import show_progress
    from podium.grading.batch_report import batch_report, check_prepared, grade_batch, read_batch
    from podium.safefs.atomic_files import write_atomically

    entries = read_batch(jsonl)
    check_prepared(entries, load, data_dir=data_dir, edition=edition)
    reports: list[dict[str, Any]] = []
    with show_progress("Grading", len(entries)) as progress:
        for report in grade_batch(entries, load, data_dir=data_dir, edition=edition, jobs=jobs):
            reports.append(report)
            progress.advance(f"{report['competition_id']}: {report['error'] or report['score']}")
    document = batch_report(reports)
    path = out / f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%S}_grading_report.json"
    write_atomically(path, json.dumps(document, indent=2, allow_nan=False) + "\n")
    if warning := miniature_warning(sum(report["miniature"] for report in reports), len(reports)):
        click.echo(warning, err=True)
    medals, valid = document["total_medals"], document["total_valid_submissions"]
    click.echo(f"{plural(len(reports), 'run')}, {valid} valid, {plural(medals, 'medal')}: {path}", err=True)
    return document


def _lines(grade: Grade) -> list[str]:
    warning = miniature_warning(grade.miniature, 1)
    lines = [warning] if warning else []
    if not grade.valid:
        return [*lines, f"Submission is invalid: {grade.error}"]
    lines += [f"score       {grade.score_rounded} ({'higher' if grade.higher_is_better else 'lower'} is better)"]
    if grade.interval is not None:
        low, high = grade.interval
        lines.append(f"interval    {low:.4g} to {high:.4g}")
    if grade.medal or grade.above_median is not None:
        lines.append(f"medal       {grade.medal or 'none'}")
    if grade.percentile is not None:
        competitors = f"{grade.teams} {'simulated entrants' if grade.field else 'teams'}"
        rank = f", rank {grade.rank} of {competitors}" if grade.rank else f" of {competitors}"
        lines.append(f"percentile  {grade.percentile:.1f}{rank}")
    if grade.above_median is not None:
        lines.append(f"median      {'above' if grade.above_median else 'not above'}")
    if grade.improvement is not None:
        lines.append(
            f"improvement {grade.improvement:+.1f} % over the baseline: {'a' if grade.success else 'no'} success"
        )
    if grade.beyond_noise is not None:
        lines.append(f"noise       the improvement is {'greater than' if grade.beyond_noise else 'within'} the noise")
    return lines
