"""`podium integrity scan`: checks of runs for suspicious behaviour."""

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
@click.option(
    "--model", metavar="MODEL", help="Model for further checks, in Inspect's notation, such as openai/gpt-4o-mini."
)
@click.option("--model-base-url", metavar="URL", help="URL that serves the model.  [default: the provider's]")
@data_dir
@as_json
def command(
    paths: tuple[Path, ...], model: str | None, model_base_url: str | None, data_dir: Path | None, as_json: bool
) -> None:
    """Scan runs for suspicious behaviour of agents.

    Reads journals and snapshots; programs are analysed, never executed. For forged tasks with local data, scores above
    the best that learning can reach are reported too. Findings are written to findings.json beside the runs, and are
    shown in reports and in the viewer. With --model, the model also answers MLE-bench's three questions about each run
    and compares runs of the same task; it receives the text and code of agents, quoted as data.
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
        counts = f"{plural(concerns, 'concern')} and {plural(practices, 'practice')} in {plural(len(scanned), 'run')}"
        click.echo(f"{counts}, for a person to judge.")


def _show(run: ScannedRun) -> None:
    for problem in run.problems:
        click.echo(printable(f"{run.task}/{run.seed}: {problem}"), err=True)
    for finding in run.findings:
        mark = "!" if finding.severity == "concern" else "·"
        click.echo(printable(f"{mark} {finding.place}: {finding.kind} ({finding.confidence:.0%}): {finding.reason}"))
        if finding.quote:
            click.echo(printable(f"    {finding.quote}"))
