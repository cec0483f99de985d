"""Generator of `index.json`: `python -m podium.catalog.build_index`."""

from __future__ import annotations

import json
from dataclasses import asdict

from podium.catalog.forge.forged_task import QUICK
from podium.catalog.listing import INDEX, describe
from podium.catalog.open_tables.package_tables import open_table_ids
from podium.catalog.registry import FOLDERS, HERE, leaderboards, load

OUTSIDE = ("bibtex-generation", "literature-review")
"""Research tasks that are part of MLAgentBench but not of its results."""


def make_index() -> str:
    """Return the text of `index.json` as it should be."""
    listings = [describe(load(task_id), _suites(task_id)) for task_id in (*QUICK, *_file_ids())]
    lines = ",\n".join(json.dumps(asdict(listing), ensure_ascii=False) for listing in listings)
    return f"[\n{lines}\n]\n"


def _file_ids() -> list[str]:
    from importlib import import_module

    modules = [
        f"podium.catalog.{folder}.{path.stem}"
        for folder in FOLDERS
        for path in sorted(HERE.joinpath(folder).glob("*.py"))
        if not path.name.startswith("_")
    ]
    ids = [import_module(module).task.id for module in modules]
    return sorted([*ids, *open_table_ids()], key=str.lower)


def _suites(task_id: str) -> tuple[str, ...]:
    if task_id in QUICK:
        return ("quick",)
    if task_id in open_table_ids():
        return ("open-tables",)
    facts = leaderboards().get(task_id)
    if facts is None:
        is_counted = load(task_id).starter is not None and task_id not in OUTSIDE
        return ("mlagentbench",) if is_counted else ()
    complexity = "lite" if facts["complexity"] == "low" else facts["complexity"]
    return ("mle-bench", f"mle-bench-{complexity}") if facts["in_75"] else (f"mle-bench-{complexity}",)


if __name__ == "__main__":
    INDEX.write_text(make_index(), encoding="utf-8")
