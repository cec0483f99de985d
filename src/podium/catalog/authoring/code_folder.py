"""Tasks from a folder of your own code, with a goal in words and a way to score the result."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import statistics
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from podium.data.home import home
from podium.errors import InvalidSubmission, UnknownTaskError, UsageError
from podium.grading.baseline_score import baseline_of
from podium.safefs.atomic_files import link_tree, sha256, write_atomically
from podium.safefs.remove_tree import remove_tree
from podium.task import Columns, Evaluation, Files, Measured, Metric, Starter, Task, research_task
from podium.text import printed_score

PREFIX = "folder-"
LEFT_OUT = (".*", "__pycache__", "*.pyc", "node_modules", "venv")
DATA = "data"
"""Subfolder that is mounted read-only as the task's data, not copied to every run."""
MAX_FOLDER_BYTES = 1 << 30
EVALUATION_S = 3600.0
ROUNDS, REPEATING_S = 3, 60.0
"""Number of alternating runs of starter and submission, and time after which no further run is started."""


@dataclass(frozen=True)
class FolderTaskSpec:
    """Specification of a task on a folder: its goal and scoring, with exactly one of `score` and `metric`."""

    goal: str
    script: str
    """Script to run, relative to the folder."""
    editable: tuple[str, ...] = ()
    """Patterns of the files that may change; empty for all."""
    score: str = ""
    """Name of the score in a line printed by the script: `accuracy: 0.93`."""
    higher_is_better: bool = True
    metric: str = ""
    """Name of the metric in `podium.metrics` that compares submission.csv with the answers."""


def register(folder: Path, spec: FolderTaskSpec, answers: Path | None = None) -> str:
    """Store a copy of a folder as a task and return its id; the same content and specification give the same id.

    Raises:
        UsageError: No task can be made of that.
    """
    files = _files(folder)
    _check(folder, files, spec, answers)
    facts = [json.dumps(asdict(spec)), *(f"{name} {sha256(folder / name)}" for name in files)]
    facts += [sha256(answers)] if answers else []
    name = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-") or "task"
    task_id = f"{PREFIX}{name}-{hashlib.sha256(chr(10).join(facts).encode()).hexdigest()[:8]}"
    kept = _registered(task_id)
    if not kept.exists():
        aside = kept.with_name(f".{kept.name}")
        remove_tree(aside)
        for file in files:
            (aside / "starter" / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(folder / file, aside / "starter" / file)
        if answers:
            shutil.copy2(answers, aside / "answers.csv")
        document = {**asdict(spec), "data": str((folder / DATA).resolve()) if (folder / DATA).is_dir() else None}
        write_atomically(aside / "task.json", json.dumps(document, indent=1) + "\n")
        aside.rename(kept)
    return task_id


def folder_task(task_id: str) -> Task:
    """Return the registered task with an id.

    Raises:
        UnknownTaskError: There is none.
    """
    kept = _registered(task_id)
    try:
        document = json.loads((kept / "task.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UnknownTaskError(f"There is no task '{task_id}'. Make one with: podium run DIR --goal TEXT") from None
    known = {field.name for field in fields(FolderTaskSpec)}
    spec = FolderTaskSpec(
        **{name: value for name, value in document.items() if name in known} | {"editable": tuple(document["editable"])}
    )
    starter = Starter(kept / "starter", spec.script, _read_only(kept / "starter", spec.editable))
    answers = kept / "answers.csv"
    task = (
        _scored_by_answers(task_id, spec, starter, answers) if spec.metric else _scored_by_line(task_id, spec, starter)
    )
    task.brief, task.generated = spec.goal, True
    data = document["data"]

    @task.prepare
    def prepare(raw: Path, public: Path, private: Path) -> None:
        if data:
            link_tree(Path(data), public)
        description = public / "description.md"
        further = description.read_text(encoding="utf-8") if description.exists() else ""
        description.unlink(missing_ok=True)  # it may be a link to the user's file
        description.write_text(f"# Goal\n\n{spec.goal}\n\n{further}".rstrip() + "\n", encoding="utf-8")
        if spec.metric:
            _write_answers(answers, public, private)

    return task


def _registered(task_id: str) -> Path:
    """Return the folder of a registered task."""
    return home() / "folders" / task_id


def _files(folder: Path) -> list[str]:
    """Return the files to copy, relative to the folder."""
    found = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if any(fnmatch(part, pattern) for part in name.parts for pattern in LEFT_OUT) or name.parts[0] == DATA:
            continue
        if path.is_file() and not path.is_symlink():
            found.append(name.as_posix())
    return found


def _check(folder: Path, files: list[str], spec: FolderTaskSpec, answers: Path | None) -> None:
    from podium import metrics

    size = sum((folder / name).stat().st_size for name in files)
    if size > MAX_FOLDER_BYTES:
        raise UsageError(
            f"{folder} has {size:,} bytes. Move data to {folder / DATA}, which is mounted instead of copied."
        )
    if spec.script not in files:
        scripts = [name for name in files if name.endswith(".py")]
        raise UsageError(
            f"There is no {spec.script} in {folder}. Name the script to run with --script. Python files: "
            f"{', '.join(scripts[:8]) or 'none'}"
        )
    for pattern in spec.editable:
        if not any(fnmatch(name, pattern) for name in files):
            raise UsageError(f"--editable {pattern}: no file in {folder} matches.")
    if bool(spec.score) == bool(spec.metric):
        raise UsageError(
            "The task needs a score: use either --score NAME, which the script prints as 'NAME: NUMBER', "
            "or --answers FILE with --metric NAME."
        )
    if spec.metric and spec.metric not in metrics.__all__:
        raise UsageError(f"There is no metric '{spec.metric}'. The metrics are: {', '.join(metrics.__all__)}")
    if bool(spec.metric) != (answers is not None):
        raise UsageError("--answers and --metric must be used together.")


def _read_only(starter: Path, editable: tuple[str, ...]) -> tuple[str, ...]:
    if not editable:
        return ()
    names = (path.relative_to(starter).as_posix() for path in sorted(starter.rglob("*")) if path.is_file())
    return tuple(name for name in names if not any(fnmatch(name, pattern) for pattern in editable))


def _scored_by_line(task_id: str, spec: FolderTaskSpec, starter: Starter) -> Task:
    def value(truth: Any, prediction: Any) -> float:
        raise NotImplementedError("the score is what the script prints")

    task = research_task(
        task_id,
        title=spec.goal.splitlines()[0][:80],
        kind="folder",
        metric=Metric(spec.score, spec.score, value, spec.higher_is_better),
        submission=Files(names=("./",), tolerance=0.1),
        starter=starter,
        first="fixed",
    )

    @task.evaluate
    def evaluate(evaluation: Evaluation) -> Measured:
        """Run submission and starter in turns: once, and up to ROUNDS times if that is quick."""
        kept: dict[str, Path | bytes] = {name: starter.folder / name for name in starter.read_only}
        started = time.monotonic()
        scores: list[float] = []
        starter_scores: list[float] = []
        while not scores or (len(scores) < ROUNDS and time.monotonic() - started < REPEATING_S):
            scores.append(_score_of({".": evaluation.submission, **kept}, spec, evaluation))
            with suppress(InvalidSubmission):  # without a score of the starter there is no baseline
                starter_scores.append(_score_of({".": starter.folder}, spec, evaluation))
        return Measured(statistics.median(scores), baseline=baseline_of(starter_scores) if starter_scores else None)

    return task


def _score_of(files: Mapping[str, Path | bytes], spec: FolderTaskSpec, evaluation: Evaluation) -> float:
    """Run the script and return the score it prints.

    Raises:
        InvalidSubmission: It fails, or prints no score.
    """
    ran = evaluation.execute(["python", spec.script], files=files, time_s=EVALUATION_S, data=True)
    if ran.exit_code or ran.stopped:
        raise InvalidSubmission(f"{spec.script}: {ran.stopped or f'exit code {ran.exit_code}'}. {ran.output[-500:]}")
    score = printed_score(ran.output, spec.score)
    if score is None:
        raise InvalidSubmission(f"{spec.script} did not print a line '{spec.score}: NUMBER'.")
    return score


def _scored_by_answers(task_id: str, spec: FolderTaskSpec, starter: Starter, answers: Path) -> Task:
    import pandas as pd

    from podium import metrics

    table = pd.read_csv(answers)
    key, targets = str(table.columns[0]), tuple(map(str, table.columns[1:]))
    numeric = all(pd.api.types.is_numeric_dtype(table[name]) for name in targets)
    return research_task(
        task_id,
        title=spec.goal.splitlines()[0][:80],
        kind="folder",
        metric=getattr(metrics, spec.metric),
        submission=Columns(key, targets, float if numeric else str, answers="answers.csv"),
        starter=starter,
        first="fixed",
    )


def _write_answers(source: Path, public: Path, private: Path) -> None:
    """Write the answers, and a sample submission with constant predictions."""
    import pandas as pd

    shutil.copyfile(source, private / "answers.csv")
    sample = pd.read_csv(source)
    for name in sample.columns[1:]:
        sample[name] = 0 if pd.api.types.is_numeric_dtype(sample[name]) else "?"
    sample.to_csv(public / "sample_submission.csv", index=False)
