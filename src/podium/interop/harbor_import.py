"""Harbor import: reads trials on exported tasks as an experiment, so that Harbor's agents can be compared."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from podium.catalog.registry import load
from podium.errors import UnknownTaskError, UsageError
from podium.report.imported_results import IMPORTED_FILE, MAX_BYTES, CompetitionReport, Import
from podium.safefs.atomic_files import write_atomically
from podium.safefs.open_nofollow import read_regular

RESULT, TRAJECTORY = "result.json", "trajectory.json"


def is_harbor_job(path: Path) -> bool:
    """Return whether a folder is a Harbor job or one of its trials."""
    return path.is_dir() and any(True for _ in _trials(path))


def import_harbor(path: Path, out: Path, *, agent: str | None = None) -> Import:
    """Import the results of a job's trials.

    Raises:
        UsageError: a trial's task is not from Podium, there are several agents, or `out` is not empty.
    """
    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} already exists. Choose another --out.")
    trials = list(_trials(path))
    names = {_agent(trial) for trial in trials}
    if agent is None and len(names) > 1:
        raise UsageError(
            f"{path} contains trials of several agents ({', '.join(sorted(names))}). Select one with --agent."
        )
    chosen = [trial for trial in trials if agent is None or _agent(trial) == agent]
    if not chosen:
        raise UsageError(f"{path} contains no trial of {agent}. The agents are: {', '.join(sorted(names))}")
    found = Import(
        agent=_agent(chosen[0]),
        source=path.name,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        reports=tuple(_report(trial) for trial in chosen),
        planned={},
    )
    write_atomically(out / IMPORTED_FILE, json.dumps(asdict(found), indent=1, ensure_ascii=False) + "\n")
    return found


def _trials(path: Path) -> Iterator[dict[str, Any]]:
    for file in sorted({*path.glob(RESULT), *path.glob(f"*/{RESULT}")}):
        document = _read(file)
        if {"task_name", "trial_name"} <= document.keys():
            yield {**document, "steps": _steps(file.with_name("agent") / TRAJECTORY)}


def _read(file: Path) -> dict[str, Any]:
    """Read a JSON object; return an empty one if it is missing or invalid."""
    try:
        document = json.loads(read_regular(file, MAX_BYTES))
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def _steps(trajectory: Path) -> int | None:
    """Return the number of the agent's steps in a trajectory; None if there is none."""
    steps = _read(trajectory).get("steps")
    if not isinstance(steps, list):
        return None
    return len([step for step in steps if isinstance(step, dict) and step.get("source") == "agent"])


def _agent(trial: dict[str, Any]) -> str:
    known = trial.get("agent_info") or {}
    model = (known.get("model_info") or {}).get("name")
    return str(known.get("name", "unknown")) + (f" ({model})" if model else "")


def _report(trial: dict[str, Any]) -> CompetitionReport:
    try:
        task = load(str(trial["task_name"]).rpartition("/")[2])
    except UnknownTaskError as error:
        raise UsageError(f"The task of trial {trial['trial_name']} is not from Podium: {error}") from error
    rewards = (trial.get("verifier_result") or {}).get("rewards") or {}
    failure = trial.get("exception_info") or {}
    success = rewards.get("success")
    return CompetitionReport(
        competition_id=task.id,
        score=_number(rewards.get("score")),
        percentile=_number(rewards.get("percentile")),
        improvement=_number(rewards.get("improvement")),
        success=None if success is None else bool(success),
        **{f"{medal}_medal": bool(rewards.get(f"{medal}_medal")) for medal in ("gold", "silver", "bronze")},
        above_median=bool(rewards.get("above_median")),
        submission_exists=bool(rewards.get("submitted")),
        valid_submission=bool(rewards.get("valid")),
        is_lower_better=not task.metric.higher_is_better,
        created_at=trial.get("finished_at"),
        edition=task.edition,
        miniature=bool(rewards.get("miniature")),
        usage=_usage(trial),
        error=failure.get("exception_message"),
    )


def _usage(trial: dict[str, Any]) -> dict[str, int | float]:
    """Return the time, steps, tokens and cost of a trial."""
    used = trial.get("agent_result") or {}
    given, answered = _number(used.get("n_input_tokens")), _number(used.get("n_output_tokens"))
    found = {
        "wall_s": _seconds(trial.get("agent_execution") or {}),
        "steps": trial["steps"],
        "input_tokens": given,
        "output_tokens": answered,
        "cached_tokens": _number(used.get("n_cache_tokens")),
        "tokens": None if given is None or answered is None else given + answered,
        "cost": _number(used.get("cost_usd")),
    }
    return {name: number for name, number in found.items() if number is not None}


def _seconds(timing: dict[str, Any]) -> float | None:
    try:
        started, finished = (datetime.fromisoformat(timing[name]) for name in ("started_at", "finished_at"))
        return (finished - started).total_seconds()
    except (LookupError, TypeError, ValueError):
        return None


def _number(found: Any) -> float | None:
    return found if isinstance(found, int | float) and math.isfinite(found) else None
