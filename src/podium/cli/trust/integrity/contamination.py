"""`podium integrity contamination`: whether a model knows tasks it was not told about."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from podium.cli.options import as_json, data_dir, print_json, require_extra, task_folders
from podium.errors import UsageError
from podium.text import plural, printable

if TYPE_CHECKING:
    from podium.integrity.contamination.familiarity import Familiarity
    from podium.integrity.contamination.probes import Contamination


@click.command(name="contamination")
@click.argument("names", metavar="TASK|SUITE...", nargs=-1, required=True)
@click.option("--model", required=True, help="The model to ask, as Inspect names it: openai/gpt-4o, ...")
@click.option("--model-base-url", help="Where the model is served, if not where its maker serves it.")
@click.option("--seed", type=click.IntRange(0), help="Of the forged tasks that are the control.  [default: a new one]")
@click.option(
    "--token-probabilities",
    is_flag=True,
    help="Do not ask; measure how probable the model finds the briefs. Needs a server that completes texts and tells "
    "log-probabilities, such as vLLM, as --model-base-url; --model is the model's name there.",
)
@click.option(
    "--texts",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="With --token-probabilities: further texts of each task, such as discussion posts, in DIR/TASK.",
)
@click.option(
    "--performance",
    metavar="EXP",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="With --token-probabilities: the experiment whose scores they are correlated with.",
)
@data_dir
@task_folders
@as_json
def command(
    names: tuple[str, ...],
    model: str,
    model_base_url: str | None,
    seed: int | None,
    token_probabilities: bool,
    texts: Path | None,
    performance: Path | None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Ask a model for what it was not told: names cut out of briefs, and the first rows of the data.

    Forged tasks, which nobody can have seen, are the control. What knowing a task is worth shows in podium run
    --obfuscate and podium compare.
    """
    require_extra("run")
    from podium.catalog import expand, resolve
    from podium.integrity.ask_model import through_inspect
    from podium.integrity.contamination.familiarity import from_server, measure
    from podium.integrity.contamination.probes import probe

    if (texts or performance) and not token_probabilities:
        raise UsageError("--texts and --performance go with --token-probabilities.")
    tell = from_server(model, model_base_url) if token_probabilities else None
    tasks = [resolve(name, data_dir=data_dir) for name in expand(list(names))]
    control = secrets.randbits(40) if seed is None else seed
    found: Familiarity | Contamination
    if tell is not None:
        found = measure(tell, tasks, seed=control, texts=texts, experiment=performance)
        lines = _familiarity(found)
    else:
        found = probe(through_inspect(model, model_base_url), tasks, seed=control)
        lines = _knowledge(found, model)
    if as_json:
        print_json({"model": model, "seed": control, **found.to_dict()})
    else:
        for line in lines:
            click.echo(printable(line))


def _knowledge(found: Contamination, model: str) -> Iterator[str]:
    facts = found.facts
    yield f"Names and numbers cut out of briefs: {facts.hits} of {facts.asked} told, p = {facts.p:.2g}"
    yield f"The same of forged tasks: {facts.control_hits} of {facts.control_asked}"
    for rows in found.rows:
        told = f"{rows.right} of {rows.cells} cells of the first rows, {rows.by_chance:.1f} by chance"
        yield f"{rows.task}: {told}, p = {rows.p:.2g}"
    for task, said in found.solutions.items():
        yield f"{task}, asked for the winning solution: {' '.join(said.split())[:300]}"
    if not found.rows:
        yield "No real training table is prepared: first rows were not asked for."
    said = "knows" if found.is_known else "shows no sign of knowing"
    yield f"{model} {said} what it was not told, for a person to judge."


def _familiarity(found: Familiarity) -> Iterator[str]:
    for each in (*found.tasks, found.control):
        figures = f"mean probability {each.mean_probability:.3f}, Min-K%++ {each.min_k_plus_plus:.2f}"
        yield f"{each.task}: {figures} ({plural(each.texts, 'text')})"
    if found.correlation is not None:
        related, (low, high) = found.correlation, found.correlation.interval
        told = f"r = {related.r:.2f} [{low:.2f}, {high:.2f}] over {related.tasks} tasks"
        yield f"Correlation of mean probability with performance: {told}"
