"""`podium integrity similarity`: which scripts of runs are copies of another run's or of a notebook's."""

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
    help="Scripts and notebooks to compare with; those of DIR/TASK for each task where there is such a folder.",
)
@click.option(
    "--notebooks",
    type=click.IntRange(1, 500),
    help="Compare with so many of the competition's most-voted notebooks, fetched from Kaggle.",
)
@click.option(
    "--threshold", type=click.FloatRange(0.05, 1), help="Similarity from which on pairs are shown.  [default: 0.3]"
)
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write the pairs side by side to a page.")
@as_json
def command(
    experiments: tuple[Path, ...],
    against: Path | None,
    notebooks: int | None,
    threshold: float | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Find scripts of runs that are copies of another run's, or of notebooks.

    Renamed, reordered and reformatted copies are found as well; what many scripts have in common counts nothing. Runs
    of one experiment are of one agent and may well be alike: several experiments show whether one copied another.
    """
    require_extra("run")
    from podium.integrity.similarity import SIMILAR, compare_experiments, render_pairs
    from podium.integrity.similarity.similar_runs import FROM_SIMILARITY, findings_about
    from podium.integrity.write_findings import record_findings

    if against and notebooks:
        raise UsageError("Give --against or --notebooks, not both: fetched notebooks are kept, see --notebooks.")
    others = _notebooks(against, notebooks)
    found = compare_experiments(experiments, notebooks=others, threshold=threshold or SIMILAR)
    for experiment in experiments:
        record_findings(
            experiment, FROM_SIMILARITY, (each for pair in found.pairs for each in findings_about(pair, experiment))
        )
    if html:
        html.write_text(render_pairs(found.pairs, " and ".join(map(str, experiments))), encoding="utf-8")
        click.echo(f"Written: {html}", err=True)
    if as_json:
        print_json(found.to_dict())
    else:
        _show(found)


def _notebooks(against: Path | None, count: int | None) -> Notebooks | None:
    from podium.integrity.similarity.similar_runs import fetched_notebooks, notebooks_in

    if count:
        return fetched_notebooks(count)
    return notebooks_in(against) if against else None


def _show(found: SimilarRuns) -> None:
    for problem in found.unread:
        click.echo(printable(f"not compared: {problem}"), err=True)
    for pair in found.pairs:
        click.echo(printable(f"{pair.similarity:6.1%}  {pair.left.author}: {pair.left.name}"))
        click.echo(printable(f"        {pair.right.author}: {pair.right.name}"))
        for passage in pair.passages[:3]:
            click.echo(f"        lines {_lines(passage.left)} are like lines {_lines(passage.right)}")
    compared = f"{plural(found.scripts, 'script')} of {plural(found.runs, 'run')}"
    against = f" and {plural(found.notebooks, 'notebook')}" if found.notebooks else ""
    click.echo(f"{plural(len(found.pairs), 'similar pair')} among {compared}{against}, for a person to judge.")


def _lines(lines: tuple[int, int]) -> str:
    return f"{lines[0]} to {lines[1]}"
