"""What tests do to every competition: prepare its miniature, make submissions to it, sum up what came out."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import podium
from podium.catalog.registry import FOLDERS, HERE, leaderboards
from podium.data.formats.archives import opened_member
from podium.data.home import DataFolder
from podium.integrity.audit.audited_task import submission_of_answers
from podium.task import Edition, Task

VECTORS = Path(__file__).parents[1] / "catalog" / "vectors.json"
SHUFFLED_SHARE = 0.3


def competition_ids() -> list[str]:
    """Every competition that has a task file."""
    stems = {path.stem for folder in FOLDERS for path in (HERE / folder).glob("*.py")}
    return [task_id for task_id in leaderboards() if task_id.replace("-", "_") in stems]


def read_sample(task: Task, place: DataFolder) -> pd.DataFrame:
    """The sample submission as text."""
    with opened_member(place.public / task.submission.sample) as file:
        return pd.read_csv(file, dtype=str, keep_default_na=False)


def perfect_submission(task: Task, place: DataFolder) -> pd.DataFrame:
    """The answers in the form of a submission."""
    found = submission_of_answers(task.form, place.private)
    assert found is not None
    return found


def noisy_submission(perfect: pd.DataFrame, task: Task) -> pd.DataFrame:
    """The perfect submission with the targets of some rows handed around."""
    rng = np.random.default_rng(0)
    rows = np.flatnonzero(rng.random(len(perfect)) < SHUFFLED_SHARE)
    noisy = perfect.reset_index(drop=True)
    targets = list(task.submission.targets)
    if task.id == "AI4Code":  # the cells of a notebook are its own: turn their order around instead
        noisy.loc[rows, targets] = noisy.loc[rows, targets].map(lambda cells: " ".join(reversed(cells.split())))
        return noisy
    noisy.loc[rows, targets] = noisy.loc[np.roll(rows, 1), targets].to_numpy()
    return noisy


def grade_table(task: Task, table: pd.DataFrame, folder: Path, data_dir: Path, edition: Edition = "v1") -> Any:
    """The grade of a table handed in as a CSV file."""
    path = folder / "submission.csv"
    table.to_csv(path, index=False)
    return podium.grade(task, path, data_dir=data_dir, edition=edition)


def summary(task: Task, folder: Path) -> dict[str, Any]:
    """What the vectors hold: the files, the split as the ids of the test part, and two scores."""
    place = podium.prepare(task, data_dir=folder, miniature=True).place
    sample = read_sample(task, place)
    perfect = perfect_submission(task, place)
    ids = "\n".join(sample[list(task.submission.ids)].agg("|".join, axis=1))
    names = sorted(str(path.relative_to(place.root)) for path in place.public.rglob("*") if path.is_file())
    names += sorted(str(path.relative_to(place.root)) for path in place.private.rglob("*") if path.is_file())
    return {
        "files": len(names),
        "names": hashlib.sha256("\n".join(names).encode()).hexdigest()[:16],
        "split": hashlib.sha256(ids.encode()).hexdigest()[:16],
        "sample": _rounded(grade_table(task, sample, folder, folder).score),
        "noisy": _rounded(grade_table(task, noisy_submission(perfect, task), folder, folder).score),
    }


def _rounded(score: float | None) -> float | str | None:
    return score if score is None or not np.isfinite(score) else float(f"{score:.4g}")
