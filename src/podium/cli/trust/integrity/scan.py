"""`podium integrity scan`: looks at what agents did."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from podium.cli.options import as_json, data_dir, print_json, require_extra
from podium.text import plural, printable

if TYPE_CHECKING:
    from podium.integrity.scan_runs import ScannedRun


@click.command(name="scan")
@click.argument("paths", metavar="RUN|EXP...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--model", help="Also ask this model, in Inspect's notation, such as openai/gpt-4o-mini.")
@click.option("--model-base-url", help="Where the model is served, if not where its maker serves it.")
@data_dir
@as_json
def command(
    paths: tuple[Path, ...], model: str | None, model_base_url: str | None, data_dir: Path | None, as_json: bool
) -> None:
    """Look at what the agents of runs did, and note what a person should look at.

    From the journal and the snapshots: programs are read, never run. Where the data of a forged task lie here, a score
    that nobody can have by learning is noted too. What was found is written to findings.json
    beside the runs, and shows in reports and in the viewer. With --model, MLE-bench's three questions are asked too,
    and runs of one task are compared; what agents wrote is sent to that model, quoted as data.
    """
    require_extra("run")
    from podium.integrity.scan_runs import scan

    scanned = scan(paths, model=model, base_url=model_base_url, data_dir=data_dir)
    if as_json:
        print_json([run.to_dict() for run in scanned])
    else:
        for run in scanned:
            _show(run)
        concerns = sum(finding.severity == "concern" for run in scanned for finding in run.findings)
        practices = sum(len(run.findings) for run in scanned) - concerns
        told = f"{plural(concerns, 'concern')} and {plural(practices, 'practice')} in {plural(len(scanned), 'run')}"
        click.echo(f"{told}, for a person to judge.")


def _show(run: ScannedRun) -> None:
    for problem in run.problems:
        click.echo(printable(f"{run.task}/{run.seed}: not looked at: {problem}"), err=True)
    for finding in run.findings:
        mark = "!" if finding.severity == "concern" else "·"
        click.echo(printable(f"{mark} {finding.place}: {finding.kind} ({finding.confidence:.0%}): {finding.reason}"))
        if finding.quote:
            click.echo(printable(f"    {finding.quote}"))
