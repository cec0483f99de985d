"""Which files hold the tables of a task: one or several, as CSV or JSON lines, plain, compressed or in an archive.

The name of a file says how it is written; `tables.zip/stations.csv` lies in an archive. Parquet is left out: its bytes
depend on the version of its writer, and an interpreter inside the sandbox may not read it.
"""

from __future__ import annotations

import io
import gzip
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
    """The habits of whoever publishes the data."""

    joined: bool
    """Whether facts about parents stand in the rows themselves."""
    ending: str
    """Of the names of tables beside train and test."""
    archive: str = ""
    """The archive that holds them, if any."""

    def path(self, name: str) -> str:
        """Where a table of that name lies."""
        return f"{self.archive}/{name}{self.ending}" if self.archive else f"{name}{self.ending}"


def draw_layout(rng: np.random.Generator, archive: str) -> Layout:
    """Any of the habits; an archive, where there is one, has this name."""
    ending = str(rng.choice([".csv", ".csv", ".jsonl", ".csv.gz"]))
    packed = ending != ".csv.gz" and rng.random() < 0.3
    return Layout(bool(rng.random() < 0.35), ending, f"{archive}.zip" if packed else "")


def table_bytes(table: pd.DataFrame, name: str) -> bytes:
    """A table as its file's name asks for."""
    if name.endswith(".jsonl"):
        return table.to_json(orient="records", lines=True, force_ascii=False).encode()
    text = table.to_csv(index=False, lineterminator="\n").encode()
    return gzip.compress(text, mtime=0) if name.endswith(".gz") else text


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Writes tables by path; those in one archive are written together."""
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
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
