"""`podium integrity failures`: why runs ended as they did."""

from __future__ import annotations

from pathlib import Path

import click

from podium.cli.options import as_json, print_json, require_extra
from podium.text import printable


@click.command(name="failures")
@click.argument("experiment", metavar="EXP", type=click.Path(path_type=Path))
@click.option("--model", help="Also ask this model, in Inspect's notation, where the rules are in doubt.")
@click.option("--model-base-url", help="Where the model is served, if not where its maker serves it.")
@as_json
def command(experiment: Path, model: str | None, model_base_url: str | None, as_json: bool) -> None:
    """Say why runs ended as they did: success, debugging, bad plan and so on.

    The modes are those of MLAgentBench's analysis, told by rules from the journal. They are written to failures.json
    beside the runs, and show in reports and in the viewer.
    """
    require_extra("run")
    from podium.integrity.failure_modes import explain_all

    found = explain_all(experiment, model=model, base_url=model_base_url)
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    for run in found.runs:
        step = f", step {run.step}" if run.step is not None else ""
        click.echo(printable(f"{run.task}/{run.seed}{step}: {run.mode}: {run.reason}"))
    for row in found.table("agent"):
        click.echo(printable("  ".join(f"{cell:>18}" for cell in row)))
