"""`podium verify`: checks a run, or all runs of an experiment, as a stranger would."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.cli.options import as_json, data_dir, print_json, require_extra, task_folders
from podium.errors import PodiumError
from podium.text import printable

if TYPE_CHECKING:
    from podium.verify import Verdict, Verification


@click.command(name="verify")
@click.argument("path", metavar="RUN|EXP", type=click.Path(path_type=Path))
@click.option("--rehash", is_flag=True, help="Also hash the data here again, to find what was altered.")
@click.option(
    "--env",
    type=click.Path(path_type=Path),
    help="The Python environment for programs that were submitted.  [default: Podium's own]",
)
@data_dir
@task_folders
@as_json
def command(path: Path, as_json: bool, **options: Any) -> None:
    """Verify a run or an experiment, with your own data.

    Nothing that the folder says is taken on trust: not where data lies, not how programs are run. What weakens a result
    comes first: missing runs, forks, resumes, miniatures, sandboxes that were not sealed.
    """
    require_extra("run")
    from podium.runs.experiment import FILE
    from podium.verify import verify

    found = verify(path, **options)
    is_experiment = (path / FILE).exists()
    if as_json:
        print_json(found.to_dict() if is_experiment else found.runs[0].to_dict())
    else:
        _show(found, details=not is_experiment)
    if not found.passed:
        failed = [run.name for run in found.runs if not run.passed]
        told = f"{failed[0]} does not verify." if failed else f"{found.problems[0]}."
        raise PodiumError(f"{found.summary} First: {told} See: podium verify RUN")


def _show(found: Verification, *, details: bool) -> None:
    for remark in found.remarks:
        _say(f"! {remark}")
    for run in found.runs:
        _say(f"{run.name}: {run.result}: {'verified' if run.passed else 'NOT VERIFIED: ' + run.problems[0]}")
        if details:
            _show_details(run)
    _say(f"Not checked: {'; '.join(found.unchecked)}.")
    _say(found.summary)
    _say(found.conclusion)


def _show_details(verdict: Verdict) -> None:
    for name, result in verdict.checks.items():
        _say(f"  {name:10} {result}")
    for line in _allowed(verdict.allowed):
        _say(f"  {line}")


def _allowed(facts: dict[str, Any]) -> list[str]:
    if not facts:
        return []
    sandbox, budget = facts["sandbox"], facts["budget"]
    mounts = [f"{mount['target']} ({'writable' if mount['writable'] else 'read-only'})" for mount in sandbox["mounts"]]
    limits = ", ".join(f"{name} {value}" for name, value in budget.items() if value is not None) or "none"
    versions = ", ".join(f"{name} {value}" for name, value in facts["versions"].items())
    return [
        f"sandbox    {facts['backend']}, network {sandbox['network']}",
        f"mounts     {', '.join(mounts)}",
        f"edition    {facts['edition']}, data {facts['data_sha256'][:16]}",
        f"budget     {limits}",
        f"versions   {versions}",
    ]


def _say(text: str) -> None:
    """Prints what a stranger may have written."""
    click.echo(printable(text))
