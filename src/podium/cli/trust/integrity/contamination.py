"""`podium integrity contamination`: tests whether a model has memorised tasks."""

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
@click.option(
    "--model", required=True, metavar="MODEL", help="Model to test, in Inspect's notation, such as openai/gpt-4o."
)
@click.option("--model-base-url", metavar="URL", help="URL that serves the model.  [default: the provider's]")
@click.option(
    "--seed", metavar="SEED", type=click.IntRange(0), help="Seed of the generated control tasks.  [default: random]"
)
@click.option(
    "--token-probabilities",
    is_flag=True,
    help="Measure the probability of the briefs under the model instead of querying it. --model-base-url must be a "
    "completion server that returns log-probabilities, such as vLLM; --model is the name of the model there.",
)
@click.option(
    "--texts",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="With --token-probabilities: more texts per task, such as discussion posts, in DIR/TASK.",
)
@click.option(
    "--performance",
    metavar="EXP",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="With --token-probabilities: experiment whose scores to correlate with the probabilities.",
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
    """Test whether a model has memorised tasks: masked names in briefs, first rows of data.

    New generated tasks, which no model can have seen, are the control. To measure the effect of memorisation on scores,
    use podium run --obfuscate and podium compare.
    """
    require_extra("run")
    from podium.catalog.registry import expand, resolve
    from podium.integrity.ask_model import ask_through_inspect
    from podium.integrity.contamination.familiarity import measure, tokens_from_server
    from podium.integrity.contamination.probes import probe

    if (texts or performance) and not token_probabilities:
        raise UsageError("--texts and --performance require --token-probabilities.")
    log_probabilities = tokens_from_server(model, model_base_url) if token_probabilities else None
    tasks = [resolve(name, data_dir=data_dir) for name in expand(list(names))]
    control = secrets.randbits(40) if seed is None else seed
    result: Familiarity | Contamination
    if log_probabilities is not None:
        result = measure(log_probabilities, tasks, seed=control, texts=texts, experiment=performance)
        lines = _familiarity(result)
    else:
        result = probe(ask_through_inspect(model, model_base_url), tasks, seed=control)
        lines = _knowledge(result, model)
    if as_json:
        print_json({"model": model, "seed": control, **result.to_dict()})
    else:
        for line in lines:
            click.echo(printable(line))


def _knowledge(result: Contamination, model: str) -> Iterator[str]:
    facts = result.facts
    yield f"Masked names and numbers in briefs: {facts.hits} of {facts.asked} recalled, p = {facts.p:.2g}"
    yield f"Control, generated tasks: {facts.control_hits} of {facts.control_asked} recalled"
    for rows in result.rows:
        recalled = f"{rows.right} of {rows.cells} cells of the first rows recalled, {rows.by_chance:.1f} by chance"
        yield f"{rows.task}: {recalled}, p = {rows.p:.2g}"
    for task, reply in result.solutions.items():
        yield f"{task}: the model describes the winning solution as: {' '.join(reply.split())[:300]}"
    if not result.rows:
        yield "First rows were not tested, because no real training table is prepared."
    verdict = "shows signs" if result.is_known else "shows no sign"
    yield f"{model} {verdict} of having memorised the tasks, for a person to judge."


def _familiarity(result: Familiarity) -> Iterator[str]:
    for row in (*result.tasks, result.control):
        figures = f"mean probability {row.mean_probability:.3f}, Min-K%++ {row.min_k_plus_plus:.2f}"
        yield f"{row.task}: {figures} ({plural(row.texts, 'text')})"
    if result.correlation is not None:
        related, (low, high) = result.correlation, result.correlation.interval
        statistics = f"r = {related.r:.2f} [{low:.2f}, {high:.2f}] over {related.tasks} tasks"
        yield f"Correlation of mean probability with performance: {statistics}"
