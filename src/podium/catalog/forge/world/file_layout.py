"""File layout of a task's tables: one file or several, as CSV or JSON lines, plain or in an archive.

The name of a file determines its format; `tables.zip/stations.csv` is a member of an archive. One secret makes the same
bytes everywhere, so archives are not compressed and nothing is parquet: those bytes depend on library versions.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

EPOCH = (1980, 1, 1, 0, 0, 0)
"""When members of archives claim to be from, so that the same tables make the same bytes."""


@dataclass(frozen=True)
class Layout:
    """Habits of the publisher of the data."""

    joined: bool
    """True if the facts about parents are columns of the rows themselves."""
    ending: str
    """File name extension of the tables beside train and test."""
    archive: str = ""
    """Archive that holds them, if any."""

    def path(self, name: str) -> str:
        """Return the path of a table."""
        return f"{self.archive}/{name}{self.ending}" if self.archive else f"{name}{self.ending}"


def draw_layout(rng: np.random.Generator, archive: str) -> Layout:
    """Draw a layout; an archive, if there is one, gets this name."""
    ending = str(rng.choice([".csv", ".csv", ".jsonl"]))
    return Layout(bool(rng.random() < 0.35), ending, f"{archive}.zip" if rng.random() < 0.3 else "")


def table_bytes(table: pd.DataFrame, name: str) -> bytes:
    """Return a table in the format of the file name."""
    if name.endswith(".jsonl"):
        return table.to_json(orient="records", lines=True, force_ascii=False).encode()
    return table.to_csv(index=False, lineterminator="\n").encode()


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write tables by path; those in one archive are written together."""
    archives: dict[str, dict[str, bytes]] = {}
    for path, table in tables.items():
        archive, _, name = path.rpartition("/")
        if archive.endswith(".zip"):
            archives.setdefault(archive, {})[name] = table_bytes(table, name)
        else:
            (folder / path).write_bytes(table_bytes(table, path))
    for archive, members in archives.items():
        (folder / archive).write_bytes(_zipped(members))


def _zipped(members: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), content)
    return buffer.getvalue()
