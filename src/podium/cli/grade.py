"""`podium grade`: scores a submission and ranks it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.cli.options import as_json, data_dir, edition, print_json

if TYPE_CHECKING:
    from podium.grading.grade import Grade


@click.command(name="grade")
@click.argument("task")
@click.argument("file", type=click.Path(path_type=Path))
@data_dir
@edition
@as_json
def command(task: str, file: Path, data_dir: Path | None, edition: Any, as_json: bool) -> None:
    """Grade FILE as a submission to TASK: score, medal, percentile."""
    from podium import api

    result = api.grade(task, file, data_dir=data_dir, edition=edition)
    if as_json:
        print_json(result.to_dict())
    else:
        for line in _lines(result):
            click.echo(line)


def _lines(grade: Grade) -> list[str]:
    if not grade.valid:
        return [f"Submission is invalid: {grade.error}"]
    lines = [f"score       {grade.score_rounded} ({'higher' if grade.higher_is_better else 'lower'} is better)"]
    if grade.percentile is not None:
        rank = f", rank {grade.rank} of {grade.teams}" if grade.rank else f" of {grade.teams} teams"
        lines.append(f"medal       {grade.medal or 'none'}")
        lines.append(f"percentile  {grade.percentile:.1f}{rank}")
        lines.append(f"median      {'above' if grade.above_median else 'not above'}")
    if grade.improvement is not None:
        lines.append(f"improvement {grade.improvement:+.1f} % over the baseline")
    if grade.miniature:
        lines.append("Made from a fabricated miniature: the score says nothing about the real task.")
    return lines
