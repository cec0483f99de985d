"""`podium show`: goal, metric, submission format and leaderboard of a task."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.cli.machines.completion import complete_task
from podium.cli.options import as_json, data_dir, print_json, task_folders
from podium.errors import NotPreparedError

if TYPE_CHECKING:
    from podium.grading.prepared_task import PreparedTask
    from podium.task import Task


@click.command(name="show")
@click.argument("task", shell_complete=complete_task)
@data_dir
@task_folders
@as_json
def command(task: str, data_dir: Path | None, as_json: bool) -> None:
    """Show a task: goal, metric, submission format, leaderboard."""
    facts = _facts(task, data_dir)
    if as_json:
        print_json(facts)
        return
    brief = facts.pop("brief")
    for name, value in facts.items():
        click.echo(f"{name:14} {_plain(value)}")
    if brief:
        click.echo(f"\n{brief}")


def _facts(task_id: str, data_dir: Path | None) -> dict[str, Any]:
    from podium import api
    from podium.data.home import locate
    from podium.grading.reference import find_reference

    task = api.load(task_id)
    prepared = _prepared(task, data_dir)
    paths = prepared.place if prepared else locate(task.id, edition=task.edition, data_dir=data_dir)
    default = task.in_edition()
    reference = find_reference(default, paths)
    description = paths.public / "description.md"
    return {
        "id": task.id,
        "title": task.title,
        "kind": task.kind,
        "metric": default.metric.title,
        "better": "higher" if default.metric.higher_is_better else "lower",
        **_form(default),
        **_secrecy(task.id),
        "known_leaks": default.parts.known_leaks or None,
        "editions": {name: parts.reason for name, parts in task.editions.items()},
        "reference": _reference(reference),
        "prepared": str(prepared.place.root) if prepared else None,
        "miniature": prepared.miniature if prepared else None,
        "brief": default.brief or (description.read_text(encoding="utf-8") if description.exists() else ""),
    }


def _secrecy(task_id: str) -> dict[str, str]:
    """Return whether the seed of a forged task is secret; empty for other tasks."""
    from podium.catalog.forge.forge_ids import has_public_seed

    if not task_id.startswith("forge-"):
        return {}
    if has_public_seed(task_id):
        return {"secret": "not secret: anyone can generate the answers from the id"}
    return {"secret": f"kept in $PODIUM_HOME; reveal it with: podium forge --reveal {task_id}"}


def _prepared(task: Task, data_dir: Path | None) -> PreparedTask | None:
    """Return the task with its real data, or else with its miniature, or None if it is not prepared."""
    from podium.grading.prepared_task import find_prepared

    try:
        return find_prepared(task, data_dir=data_dir)
    except NotPreparedError:
        return None


def _form(task: Task) -> dict[str, Any]:
    """Return the submission format: the columns of a table, or file names."""
    if not task.is_table:
        return {"files": list(task.submission.names)}
    return {"ids": list(task.form.ids), "targets": list(task.form.targets)}


def _reference(reference: Any) -> dict[str, Any] | None:
    """Return the medal thresholds of a leaderboard, or the score of a baseline."""
    from podium.grading.medals import thresholds
    from podium.task import Leaderboard

    if reference is None:
        return None
    if not isinstance(reference, Leaderboard):
        return {
            "baseline": reference.score,
            "sd": reference.sd,
            "runs": reference.runs,
            "success_at": reference.success_at,
        }
    teams = len(reference.scores) if reference.scores else reference.teams
    return {"entrants of the field" if reference.measured else "teams": teams, **asdict(thresholds(reference))}


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain(item)}".strip() for name, item in value.items())
    if isinstance(value, list):
        return ", ".join(value[:12]) + (f", … ({len(value)} in total)" if len(value) > 12 else "")
    return "-" if value is None else str(value)
