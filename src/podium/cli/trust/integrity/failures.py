"""`podium integrity failures`: failure modes of runs."""

from __future__ import annotations

from pathlib import Path

import click

from podium.cli.options import as_json, print_json, require_extra
from podium.text import printable


@click.command(name="failures")
@click.argument("experiment", metavar="EXP", type=click.Path(path_type=Path))
@click.option(
    "--model",
    metavar="MODEL",
    help="Model for runs that the rules cannot classify, in Inspect's notation, such as openai/gpt-4o.",
)
@click.option("--model-base-url", metavar="URL", help="URL that serves the model.  [default: the provider's]")
@as_json
def command(experiment: Path, model: str | None, model_base_url: str | None, as_json: bool) -> None:
    """Classify how runs ended: success, debugging, bad plan and so on.

    Rules over the journal assign one of the failure modes of MLAgentBench's analysis. The results are written to
    failures.json beside the runs, and are shown in reports and in the viewer.
    """
    require_extra("run")
    from podium.integrity.failure_modes import classify_failures

    analysis = classify_failures(experiment, model=model, base_url=model_base_url)
    if as_json:
        print_json(analysis.model_dump(mode="json"))
        return
    for run in analysis.runs:
        step = f", step {run.step}" if run.step is not None else ""
        click.echo(printable(f"{run.task}/{run.seed}{step}: {run.mode}: {run.reason}"))
    for row in analysis.table("agent"):
        click.echo(printable("  ".join(f"{cell:>18}" for cell in row)))
