"""`podium verify`: checks a run, or all runs of an experiment, as a stranger would."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.cli.options import as_json, data_dir, print_json, require_extra, task_folders
from podium.errors import PodiumError

if TYPE_CHECKING:
    from podium.runs.verify import Verdict


@click.command(name="verify")
@click.argument("run", type=click.Path(path_type=Path))
@data_dir
@task_folders
@as_json
def command(run: Path, data_dir: Path | None, as_json: bool) -> None:
    """Check a RUN: journal, snapshots and grade, and what its sandbox allowed."""
    require_extra("run")
    from podium.runs.experiment import FILE
    from podium.runs.verify import verify

    verdicts = verify(run, data_dir=data_dir)
    if as_json:
        documents = [verdict.to_dict() for verdict in verdicts]
        print_json(documents if (run / FILE).exists() else documents[0])
    else:
        for verdict in verdicts:
            _show(verdict)
    failed = [verdict for verdict in verdicts if not verdict.passed]
    if failed:
        raise PodiumError(f"{len(failed)} of {len(verdicts)} runs do not verify. First: {failed[0].run}")


def _show(verdict: Verdict) -> None:
    click.echo(f"{verdict.run}: {'verified' if verdict.passed else 'NOT VERIFIED'}")
    for name, result in verdict.checks.items():
        click.echo(f"  {name:10} {result}")
    for line in _allowed(verdict.allowed):
        click.echo(f"  {line}")


def _allowed(facts: dict[str, Any]) -> list[str]:
    if not facts:
        return []
    sandbox, budget = facts["sandbox"], facts["budget"]
    mounts = [f"{mount['target']} ({'writable' if mount['writable'] else 'read-only'})" for mount in sandbox["mounts"]]
    limits = ", ".join(f"{name} {value}" for name, value in budget.items() if value is not None) or "none"
    versions = ", ".join(f"{name} {value}" for name, value in facts["versions"].items())
    return [
        f"sandbox    {facts['backend']}, network {', '.join(sandbox['hosts']) or sandbox['network']}",
        f"mounts     {', '.join(mounts)}",
        f"edition    {facts['edition']}, data manifest {facts['manifest_sha256'][:16]}",
        f"budget     {limits}",
        f"versions   {versions}",
    ]
