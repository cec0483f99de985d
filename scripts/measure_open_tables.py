"""Measures the fields of the suite open-tables and writes what belongs to each task: its JSON file, its brief, and its
line in docs/open-tables.md.

    python scripts/measure_open_tables.py [TASK ...]

Needs the package that has the data: pip install 'podium[open-tables]'. Tasks measured before are kept unless named.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from statistics import median

import pandas as pd

from podium.catalog.authoring.measured_field import PipelineScore, measure_pipelines
from podium.catalog.authoring.task_folder import Draft
from podium.catalog.open_tables.package_tables import (
    HERE,
    OpenTable,
    open_table_draft,
    open_table_ids,
    read_open_table,
    table_task,
)
from podium.data.prepare import prepare_task
from podium.grading.prepared_task import find_prepared
from podium.safefs.atomic_files import write_atomically

PAGE = Path(__file__).parent.parent / "docs" / "open-tables.md"
MARK = "<!-- table: scripts/measure_open_tables.py -->"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK")
    named = parser.parse_args().tasks
    for task_id in named or open_table_ids():
        if named or not (HERE / f"{task_id}.json").exists():
            measure(task_id)
    write_table()


def measure(task_id: str) -> None:
    """Writes the files of a task without a field, prepares it, lets the field train, and writes them again."""
    table = read_open_table(task_id)
    draft = open_table_draft(table)
    write(table, draft, [], (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        task = table_task(task_id)
        public = prepare_task(task, data_dir=Path(folder)).place.public
        train, test = (len(pd.read_csv(public / part, dtype=str)) for part in ("train.csv", "test.csv"))
        prepared = find_prepared(task, data_dir=Path(folder))
        field = measure_pipelines(prepared, draft.goal, draft.columns, lambda pipeline, score: None)
    write(table, draft, field, (train, test))
    best, worst = field[0].score, field[-1].score
    print(task_id, train, test, draft.goal.metric.name, draft.split.kind, draft.split.column, best, worst, flush=True)
    print("   ", *draft.table.notes, flush=True)


def write_table() -> None:
    """Puts the list of tasks into the page, below its mark."""
    lines = [
        MARK,
        "| task | asked | metric | best, median | split | licence | source |",
        "|---|---|---|---|---|---|---|",
    ]
    for task_id in open_table_ids():
        table, task = read_open_table(task_id), table_task(task_id)
        measured = json.loads((HERE / f"{task_id}.json").read_text(encoding="utf-8"))
        scores = [entrant["score"] for entrant in measured["field"]]
        split = "time" if "later" in measured["split"] else "group" if "together" in measured["split"] else "random"
        best = f"{scores[0]:.4g}, {median(scores):.4g}"
        cells = [task_id, table.title, task.metric.title, best, split, table.licence, table.source]
        lines.append("| " + " | ".join(cells) + " |")
    page = PAGE.read_text(encoding="utf-8")
    write_atomically(PAGE, page[: page.index(MARK)] + "\n".join(lines) + "\n")


def write(table: OpenTable, draft: Draft, field: list[PipelineScore], rows: tuple[int, int]) -> None:
    """The JSON file and the brief."""
    content = draft.table.rows.to_csv(index=False).encode()
    document = {
        "sha256": hashlib.sha256(content).hexdigest(),
        "id": draft.table.id,
        "prediction": draft.goal.prediction,
        "metric": draft.goal.metric.name,
        "classes": draft.goal.classes,
        "guess": draft.guess,
        "split": draft.split_options(),
        "field": [asdict(entrant) for entrant in field],
    }
    lines = [f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in document.items()]
    columns = ",\n  ".join(json.dumps(asdict(column), ensure_ascii=False) for column in draft.columns)
    text = "{\n" + ",\n".join([*lines, f' "columns": [\n  {columns}\n ]']) + "\n}\n"
    write_atomically(HERE / f"{table.id}.json", text)
    origin = f"\n## Origin\n{table.source} Licence: {table.licence}.\n"
    brief = draft.brief(*rows, field).replace("\n\n", f"\n\n{table.about} ", 1)
    write_atomically(HERE / f"{table.id}.md", brief + origin)


if __name__ == "__main__":
    main()
