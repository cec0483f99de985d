"""Text of the files of a new task."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from podium.catalog.authoring.choose_goal import SubmissionGoal
from podium.catalog.authoring.choose_split import TEST_SHARE, Split
from podium.catalog.authoring.measured_field import PipelineScore
from podium.catalog.authoring.source_table import Table
from podium.data.columns import Column
from podium.grading.medals import thresholds
from podium.task import Leaderboard

EXAMPLES = 6
_TASK = '''"""{headline}: {what}."""

from pathlib import Path

import numpy as np

from podium.data.building_blocks import {verbs}
from podium.metrics import {metric_name}
from podium.task import Columns, Leaderboard{rule}, competition

HERE = Path(__file__).parent
# Scores of {entrants} (named in field.json): a measured field, not people.
FIELD = {field}

task = competition(
    {id},
    title={title},
    kind={kind},
    metric={metric},
    submission=Columns(id={id_column}, target={target}, values={values}),
    leaderboard=Leaderboard(lower_is_better={lower}, scores=FIELD, measured=True),
    time_s=600.0,
)
split_table(task, {share}, guess={guess}, hidden={target}, dtype=str{options})


@task.fetch
def fetch(raw: Path) -> None:
    link_file(HERE / "train.csv", raw / "train.csv"){fetch_pictures}


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    table = draw_table(read_columns(HERE / "columns.json"), target={target}, rng=rng)
    write_csv(table, raw / "train.csv"){draw_pictures}
'''
_FETCH_PICTURES = """
    link_path(HERE / "train", raw / "train")"""
_DRAW_PICTURES = """
    tints = table[{target}].astype("category").cat.codes
    write_files(raw, pictures(rng, [f"train/{{key}}{suffix}" for key in table[{id}]], tints))"""
_BRIEF = """# {title}

Predict `{target}` for every row of `test.csv`.

## Files
- `train.csv`: {train_rows:,} rows with `{target}`
- `test.csv`: {test_rows:,} rows without it
- `sample_submission.csv`: the required form{pictures}

## Split
{split}

## Columns
| column | holds | blank |
|---|---|---|
{dictionary}

## Submission
A CSV file with the columns `{id}` and `{target}`, a row for each row of `test.csv`. {expected}

## Metric
{metric}: {better} is better.
"""
_PICTURES = """
- `train/` and `test/`: the picture of each row, named after its `{id}`, such as `train/7{suffix}`"""
_MEDALS = """
## Medals
They come from a measured field, not from people: {entrants} were trained on `train.csv` and
scored as a submission is. Gold starts at {gold:.5g}, silver at {silver:.5g}, bronze at {bronze:.5g}; the median is
{median:.5g}.
"""


@dataclass(frozen=True)
class Draft:
    """Content of the files of a new task, except for the field."""

    id: str
    title: str
    table: Table
    goal: SubmissionGoal
    columns: list[Column]
    split: Split
    suffix: str | None = None
    """Suffix of the images, if every row has one."""

    def task_file(self, field: list[PipelineScore]) -> str:
        """Return the text of `task.py`."""
        goal, target = self.goal, self.table.target
        rule = {"probability": "Number(0, 1)", "number": "float", "label": self._label_rule()}[goal.prediction]
        kinds = {"probability": "classification", "label": "classification", "number": "regression"}
        verbs = ["draw_table", "link_file", "read_columns", "split_table", "write_csv"]
        verbs += ["link_path", "pictures", "write_files"] if self.suffix else []
        drawn = {"target": _literal(target), "id": _literal(self.table.id), "suffix": self.suffix}
        return _TASK.format(
            headline=self.title,
            what="labels of pictures" if self.suffix else "one column of a table is predicted from the others",
            verbs=", ".join(sorted(verbs)),
            fetch_pictures=_FETCH_PICTURES if self.suffix else "",
            draw_pictures=_DRAW_PICTURES.format(**drawn) if self.suffix else "",
            id=_literal(self.id),
            title=_literal(self.title),
            target=_literal(target),
            id_column=_literal(self.table.id),
            kind=_literal(f"{'image' if self.suffix else 'tabular'} {kinds[goal.prediction]}"),
            metric=goal.metric_code,
            metric_name=goal.metric.name,
            values=rule,
            rule="" if rule == "float" else f", {rule.partition('(')[0]}",
            lower=not goal.metric.higher_is_better,
            entrants=_named(field),
            field=tuple(entrant.score for entrant in field),
            share=TEST_SHARE,
            guess=_literal(self.guess),
            options="".join(f", {name}={_literal(value)}" for name, value in self.split_options().items()),
        )

    def split_options(self) -> dict[str, str]:
        """Return the arguments of `split_table` that depend on the task."""
        options = {"stratify": self.table.target} if self.goal.prediction != "number" else {}
        if self.split.kind == "time":
            options = {"later": str(self.split.column)}
        elif self.split.kind == "group":
            options |= {"together": str(self.split.column)}
        return options | ({"files": f"train/{{{self.table.id}}}{self.suffix}"} if self.suffix else {})

    def _label_rule(self) -> str:
        whole = all(re.fullmatch(r"0|-?[1-9][0-9]{0,14}", name) for name in self.goal.classes)
        return (
            "Integer()"
            if whole
            else f"Text(blank=False, choices=({', '.join(map(_literal, sorted(self.goal.classes)))}))"
        )

    @property
    def guess(self) -> float | str:
        """Prediction of the sample submission: 0.5, the rarest class, or the median."""
        if self.goal.prediction == "probability":
            return 0.5
        if self.goal.prediction == "label":
            return self.goal.classes[-1]
        quantiles = next(column.quantiles for column in self.columns if column.name == self.table.target)
        return quantiles[len(quantiles) // 2]

    def brief(self, train_rows: int, test_rows: int, field: list[PipelineScore]) -> str:
        """Return the text of `brief.md`."""
        text = _BRIEF.format(
            title=self.title,
            target=self.table.target,
            id=self.table.id,
            train_rows=train_rows,
            test_rows=test_rows,
            pictures=_PICTURES.format(id=self.table.id, suffix=self.suffix) if self.suffix else "",
            split=self.split.reason,
            dictionary="\n".join(self._line(column) for column in self.columns),
            expected=self._expected(),
            metric=self.goal.metric.title,
            better="higher" if self.goal.metric.higher_is_better else "lower",
        )
        if not field:
            return text
        board = Leaderboard(not self.goal.metric.higher_is_better, tuple(entrant.score for entrant in field))
        return text + _MEDALS.format(entrants=_named(field), **asdict(thresholds(board)))

    def _line(self, column: Column) -> str:
        blank = f"{100 * column.missing:.3g} %" if column.missing else "never"
        what = f"the target: {self._target(column)}" if column.name == self.table.target else _holds(column)
        return f"| {_cell(column.name)} | {_cell(what)} | {blank} |"

    def _target(self, column: Column) -> str:
        if self.goal.negative is not None:
            return f"1 for {self.goal.positive}, 0 for {self.goal.negative}"
        return _holds(column)

    def _expected(self) -> str:
        if self.goal.prediction == "probability":
            return f"`{self.table.target}` is the probability of 1, between 0 and 1."
        if self.goal.prediction == "number":
            return f"`{self.table.target}` is a number."
        return f"`{self.table.target}` is one of the {len(self.goal.classes)} classes that `train.csv` has."


def _named(field: list[PipelineScore]) -> str:
    """Return a description of the field's entrants."""
    automl = [entrant for entrant in field if entrant.pipeline.startswith("FLAML")]
    return f"{len(field) - len(automl)} scikit-learn pipelines{' and FLAML' if automl else ''}"


def _literal(value: float | str) -> str:
    """Return a value as Python code."""
    return json.dumps(value, ensure_ascii=False)


def _holds(column: Column) -> str:
    if column.kind == "id":
        return "identifier of the row"
    if column.kind == "number":
        kind = "whole number" if column.whole else "number"
        return f"{kind} from {column.quantiles[0]:g} to {column.quantiles[-1]:g}"
    if column.kind == "time":
        first, last = (datetime.fromtimestamp(column.quantiles[end], UTC) for end in (0, -1))
        return f"time from {first:%Y-%m-%d} to {last:%Y-%m-%d}"
    if column.kind == "text":
        return f"text of about {column.words} words"
    values = list(column.shares)
    more = f" and {len(values) - EXAMPLES} more" if len(values) > EXAMPLES else ""
    return f"one of {len(values)} values: {', '.join(values[:EXAMPLES])}{more}"


def _cell(text: str) -> str:
    """Return a text escaped for a cell of a Markdown table."""
    return " ".join(text.replace("|", "\\|").split())
