"""`podium integrity contamination`: whether a model knows tasks it was not told about."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import click

from podium.cli.options import as_json, data_dir, print_json, require_extra, task_folders
from podium.text import printable

if TYPE_CHECKING:
    from podium.integrity.contamination import Contamination


@click.command(name="contamination")
@click.argument("names", metavar="TASK|SUITE...", nargs=-1, required=True)
@click.option("--model", required=True, help="The model to ask, as Inspect names it: openai/gpt-4o, ...")
@click.option("--model-base-url", help="Where the model is served, if not where its maker serves it.")
@click.option("--seed", type=click.IntRange(0), help="Of the forged tasks that are the control.  [default: a new one]")
@data_dir
@task_folders
@as_json
def command(
    names: tuple[str, ...],
    model: str,
    model_base_url: str | None,
    seed: int | None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Ask a model for what it was not told: names cut out of briefs, and the first rows of the data.

    Forged tasks, which nobody can have seen, are the control. What knowing a task is worth shows in podium run
    --obfuscate and podium compare.
    """
    require_extra("run")
    from podium.catalog import expand, resolve
    from podium.integrity.contamination import probe, through_inspect

    tasks = [resolve(name, data_dir=data_dir) for name in expand(list(names))]
    control = secrets.randbits(40) if seed is None else seed
    found = probe(through_inspect(model, model_base_url), tasks, seed=control)
    if as_json:
        print_json({"model": model, "seed": control, **found.to_dict()})
    else:
        _show(found, model)


def _show(found: Contamination, model: str) -> None:
    facts = found.facts
    click.echo(f"Names and numbers cut out of briefs: {facts.hits} of {facts.asked} told, p = {facts.p:.2g}")
    click.echo(f"The same of forged tasks: {facts.control_hits} of {facts.control_asked}")
    for rows in found.rows:
        told = f"{rows.right} of {rows.cells} cells of the first rows, {rows.by_chance:.1f} by chance"
        click.echo(f"{rows.task}: {told}, p = {rows.p:.2g}")
    for task, said in found.solutions.items():
        click.echo(printable(f"{task}, asked for the winning solution: {' '.join(said.split())[:300]}"))
    if not found.rows:
        click.echo("No real training table is prepared: first rows were not asked for.")
    said = "knows" if found.is_known else "shows no sign of knowing"
    click.echo(f"{model} {said} what it was not told, for a person to judge.")
