"""What tests do to tasks whose data is tables: look for hidden labels, run starter code with its gap filled."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import pandas as pd

from podium.data.home import DataFolder
from podium.task import Starter


def told(place: DataFolder, key: str, hidden: Collection[str]) -> set[str]:
    """The columns that say anything about hidden rows in all public tables: not just one and the same value."""
    columns: set[str] = set()
    for path in place.public.rglob("*.csv"):
        table = pd.read_csv(path, dtype=str)
        rows = table[table[key].isin(hidden)] if key in table else table
        columns |= {str(column) for column in rows if rows[column].nunique(dropna=False) > 1}
    return columns


def run_starter(
    place: DataFolder, starter: Starter, folder: Path, edits: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Runs the starter script on the public data, with some passages replaced; its files lie in the folder then."""
    for path in starter.folder.glob("*.*"):
        (folder / path.name).write_bytes(path.read_bytes())
    text = (folder / starter.script).read_text(encoding="utf-8")
    for old, new in edits.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (folder / starter.script).write_text(text, encoding="utf-8")
    (folder / "data").symlink_to(place.public)
    return subprocess.run(
        [sys.executable, starter.script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1"},  # threads that share a core with other tests wait for each other
    )
