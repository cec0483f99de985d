"""`podium integrity similarity`: scripts copied between runs, or from notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from podium.cli.options import as_json, print_json, require_extra
from podium.errors import UsageError
from podium.text import plural, printable

if TYPE_CHECKING:
    from podium.integrity.similarity.similar_runs import Notebooks, SimilarRuns


@click.command(name="similarity")
@click.argument("experiments", metavar="EXP...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--against",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of scripts and notebooks to compare with; for each task, those in DIR/TASK if it exists.",
)
@click.option(
    "--notebooks",
    type=click.IntRange(1, 500),
    metavar="N",
    help="Compare with the N most-voted notebooks of the competition, fetched from Kaggle.",
)
@click.option(
    "--threshold",
    metavar="X",
    type=click.FloatRange(0.05, 1),
    help="Minimum similarity of pairs to show.  [default: 0.3]",
)
@click.option(
    "--html", type=click.Path(dir_okay=False, path_type=Path), help="Write a web page with the pairs side by side."
)
@as_json
def command(
    experiments: tuple[Path, ...],
    against: Path | None,
    notebooks: int | None,
    threshold: float | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Find scripts copied between runs, or from notebooks.

    Detects renamed, reordered and reformatted copies, and ignores code that many scripts share. Runs of one experiment
    have the same agent and can be similar without copying; compare several experiments to find copying between them.
    """
    require_extra("run")
    from podium.integrity.similarity import MIN_SIMILARITY, compare_experiments, render_pairs
    from podium.integrity.similarity.similar_runs import FROM_SIMILARITY, findings_about
    from podium.integrity.write_findings import record_findings

    if against and notebooks:
        raise UsageError("--against and --notebooks cannot be combined. Give one of them.")
    others = _notebooks(against, notebooks)
    result = compare_experiments(experiments, notebooks=others, threshold=threshold or MIN_SIMILARITY)
    for experiment in experiments:
        record_findings(
            experiment,
            FROM_SIMILARITY,
            (finding for pair in result.pairs for finding in findings_about(pair, experiment)),
        )
    if html:
        html.write_text(render_pairs(result.pairs, " and ".join(map(str, experiments))), encoding="utf-8")
        click.echo(f"Wrote {html}", err=True)
    if as_json:
        print_json(result.to_dict())
    else:
        _show(result)


def _notebooks(against: Path | None, count: int | None) -> Notebooks | None:
    from podium.integrity.similarity.similar_runs import fetched_notebooks, notebooks_in

    if count:
        return fetched_notebooks(count)
    return notebooks_in(against) if against else None


def _show(result: SimilarRuns) -> None:
    for problem in result.unread:
        click.echo(printable(f"not compared: {problem}"), err=True)
    for pair in result.pairs:
        click.echo(printable(f"{pair.similarity:6.1%}  {pair.left.author}: {pair.left.name}"))
        click.echo(printable(f"        {pair.right.author}: {pair.right.name}"))
        for passage in pair.passages[:3]:
            click.echo(f"        lines {_lines(passage.left)} are similar to lines {_lines(passage.right)}")
    compared = f"{plural(result.scripts, 'script')} of {plural(result.runs, 'run')}"
    against = f" and {plural(result.notebooks, 'notebook')}" if result.notebooks else ""
    click.echo(f"{plural(len(result.pairs), 'similar pair')} among {compared}{against}, for a person to judge.")


def _lines(lines: tuple[int, int]) -> str:
    return f"{lines[0]} to {lines[1]}"
