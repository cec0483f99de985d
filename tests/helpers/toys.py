"""Tiny prepared tasks, and questions to ask about a submission to one."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

import podium
from podium.grading.grade import Grade, Validation
from podium.grading.reference import LEADERBOARD_FILE
from podium.metrics import rmse
from podium.task import Columns, Metric, Task


def toy_task(
    form: Columns,
    answers: pd.DataFrame,
    *,
    sample: pd.DataFrame | None = None,
    metric: Metric = rmse,
    leaderboard: str | None = None,
    **facts: Any,
) -> Task:
    """A generated task whose data is just these tables."""
    task = Task(
        id="toy", title="Toy", kind="tabular", metric=metric, submission=form, generated=True, brief="Guess.", **facts
    )

    @task.prepare
    def prepare(raw: Path, public: Path, private: Path) -> None:
        (answers if sample is None else sample).to_csv(public / form.sample, index=False)
        answers.to_csv(private / form.answers, index=False)
        if leaderboard:
            (private / LEADERBOARD_FILE).write_text(leaderboard, encoding="utf-8")

    return task


@dataclass
class Toy:
    """A prepared task, and a folder to leave submissions in."""

    task: Task
    folder: Path
    data_dir: Path = field(init=False)

    def __post_init__(self) -> None:
        self.data_dir = self.folder / "data"
        podium.prepare(self.task, data_dir=self.data_dir)

    @property
    def sample(self) -> str:
        public = self.data_dir / self.task.id / "public"
        return (public / self.task.submission.sample).read_text(encoding="utf-8")

    def write(self, content: str | bytes, name: str = "submission.csv") -> Path:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def grade_file(self, path: Path) -> Grade:
        return podium.grade(self.task, path, data_dir=self.data_dir)

    def validate_file(self, path: Path) -> Validation:
        return podium.validate(self.task, path, data_dir=self.data_dir)

    def score(self, content: str | bytes, name: str = "submission.csv") -> float:
        """The score of a submission that has to be valid."""
        path = self.write(content, name)
        grade = self.grade_file(path)
        assert grade.error is None
        assert self.validate_file(path).valid
        assert grade.score is not None
        return grade.score

    def fault(self, content: str | bytes, name: str = "submission.csv") -> str:
        """What is wrong with a submission; validating has to say the same as grading."""
        return self.fault_of(self.write(content, name))

    def fault_of(self, path: Path) -> str:
        grade, validation = self.grade_file(path), self.validate_file(path)
        assert not grade.valid
        assert grade.score is grade.medal is None
        assert validation.error == grade.error
        assert grade.error is not None
        assert grade.error.isprintable()
        assert len(grade.error) < 1000
        return grade.error
