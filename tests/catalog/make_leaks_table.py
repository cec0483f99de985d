"""Measures what metadata tells of the answers of every task, and writes the table in docs/leaks.md.

`python tests/catalog/make_leaks_table.py`
"""

from __future__ import annotations

import sys
from pathlib import Path

from leaks import CLOSER, examine_with, table_tasks

import podium
from podium.integrity.audit.metadata_leaks import MetadataPrediction

PAGE = Path(__file__).parents[2] / "docs" / "leaks.md"
START, END = "<!-- table -->", "<!-- end of table -->"
SHUFFLES = 10_000


def main() -> None:
    lines = [
        "| task | edition | rows | ids and order of rows | metadata of files | known leak |",
        "|---|---|---|---|---|---|",
    ]
    for task_id in table_tasks():
        task = podium.load(task_id).in_edition()
        finding = examine_with(task, CLOSER, shuffles=SHUFFLES)
        rows, files = cell(finding.of_rows), cell(finding.of_files)
        known = task.parts.known_leaks
        lines.append(f"| {task_id} | {task.edition} | {finding.of_rows.rows} | {rows} | {files} | {known} |")
        print(lines[-1], file=sys.stderr, flush=True)
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(START)[0], text.split(END)[1]
    PAGE.write_text(before + "\n".join([START, *lines, END]) + after, encoding="utf-8")


def cell(found: MetadataPrediction) -> str:
    if not found.rows:
        return "–"
    return f"{found.strength:.2f} by {found.best}, p {found.p:.4f}"


if __name__ == "__main__":
    main()
