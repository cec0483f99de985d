"""`podium verify`: independent check of a run, or of all runs of an experiment."""

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
@click.option("--rehash", is_flag=True, help="Also hash the prepared data again, to detect changes.")
@click.option(
    "--env",
    type=click.Path(path_type=Path),
    help="Python environment for submitted programs.  [default: Podium's own]",
)
@data_dir
@task_folders
@as_json
def command(path: Path, as_json: bool, **options: Any) -> None:
    """Check a run or an experiment against your own data.

    Paths and commands stored in the folder are not trusted. The output starts with facts that weaken a result: missing
    runs, forks, resumes, miniatures and unsealed sandboxes.
    """
    require_extra("run")
    from podium.runs.experiment import FILE
    from podium.verify import verify

    result = verify(path, **options)
    is_experiment = (path / FILE).exists()
    if as_json:
        print_json(result.to_dict() if is_experiment else result.runs[0].to_dict())
    else:
        _show(result, details=not is_experiment)
    if not result.passed:
        failed = [run.name for run in result.runs if not run.passed]
        if failed:
            raise PodiumError(f"{result.summary} First failure: {failed[0]}. See the details with: podium verify RUN")
        raise PodiumError(f"{result.summary} First problem: {result.problems[0]}.")


def _show(result: Verification, *, details: bool) -> None:
    for remark in result.remarks:
        _echo(f"! {remark}")
    for run in result.runs:
        _echo(f"{run.name}: {run.result}: {'verified' if run.passed else 'NOT VERIFIED: ' + run.problems[0]}")
        if details:
            _show_details(run)
    _echo(f"Not checked: {'; '.join(result.unchecked)}.")
    _echo(result.summary)
    _echo(result.conclusion)


def _show_details(verdict: Verdict) -> None:
    for name, result in verdict.checks.items():
        _echo(f"  {name:10} {result}")
    for line in _allowed(verdict.allowed):
        _echo(f"  {line}")


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


def _echo(text: str) -> None:
    """Print text from an untrusted folder."""
    click.echo(printable(text))
