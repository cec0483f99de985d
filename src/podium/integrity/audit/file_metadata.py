"""Metadata of test rows: everything that is known without opening their files."""

from __future__ import annotations

import os
import re
import tarfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium.tables.parse_numbers import to_numbers

_TEXT = (".csv", ".json", ".jsonl", ".txt", ".tsv")
_FACTS = ("st_ino", "st_mtime_ns", "st_ctime_ns", "st_mode", "st_nlink", "st_size")
OF_ROWS = ("row", "id digits", "name", "order in")
"""Prefixes of facts that come from tables and names; all other facts are about files."""


@dataclass(frozen=True)
class Rows:
    """Test rows of one preparation; rows that share their files count as one."""

    facts: pd.DataFrame
    """Metadata, with a column for each kind."""
    answers: pd.DataFrame


def names_in(path: str) -> set[str]:
    """Return the names by which a table may refer to a file: the parts of its path, with and without extensions."""
    return {name for part in Path(path).parts for name in (part, part.split(".")[0], Path(part).stem)}


def observe(public: Path, ids: Sequence[str], answers: pd.DataFrame) -> Rows:
    """Return all metadata of the rows with these ids, and their answers as numbers."""
    files = sorted(path for path in public.rglob("*") if path.is_file())
    by_name: dict[str, list[Path]] = {}
    for path in files:
        for name in names_in(str(path.relative_to(public))):
            by_name.setdefault(name, []).append(path)
    packed = _packed(files)
    groups: dict[str, list[int]] = {}
    for number, row_id in enumerate(ids):
        found = next((name for name in _candidates(row_id) if name in by_name or name in packed), row_id)
        groups.setdefault(found, []).append(number)
    places = [_places(path) for path in files if path.suffix in _TEXT and path.name != "description.md"]
    listing = {
        f"{folder}/{name}": number
        for folder, _, _ in os.walk(public)
        for number, name in enumerate(os.listdir(folder))  # noqa: PTH208 the order is what matters
    }
    table = []
    for name, rows in groups.items():
        facts: dict[str, float] = {"row": rows[0], "id digits": float(re.sub(r"\D", "", name)[:15] or 0)}
        facts |= {f"order in table {number}": place.get(name, np.nan) for number, place in enumerate(places)}
        for number, path in enumerate(by_name.get(name, [])[:3]):
            facts |= _facts_of(path, listing, number)
        facts |= {f"archive {number}": value for number, value in enumerate(packed.get(name, ()))}
        table.append(facts)
    known = pd.DataFrame(table).assign(name=pd.Series(list(groups)).rank())
    numbers = known.sort_values("name").filter(like="st_ino")
    # A new file may get the inode number of one that was removed just before, and so reveal its position.
    known = known.join(numbers.shift(-1), rsuffix=" of the next").join(numbers.shift(), rsuffix=" of the last")
    return Rows(known, _grouped(answers, list(groups.values())))


def _candidates(row_id: str) -> list[str]:
    parts = re.split(r"([_\-./])", row_id)
    starts = ["".join(parts[:end]) for end in range(len(parts) - 2, 0, -2)]
    return [row_id, row_id.split(".")[0], Path(row_id).stem, *starts, *(part for part in parts if len(part) > 3)]


def _facts_of(path: Path, listing: dict[str, int], number: int) -> dict[str, float]:
    found = path.stat()
    facts = {f"{name} {number}": float(getattr(found, name)) for name in _FACTS}
    return facts | {f"listing {number}": listing[str(path)], f"folder {number}": float(path.parent.stat().st_ino)}


def _packed(files: list[Path]) -> dict[str, tuple[float, ...]]:
    """Return the position, date and mode of each archive member, by name."""
    packed: dict[str, tuple[float, ...]] = {}
    for path in files:
        facts: list[tuple[str, tuple[float, ...]]] = []
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                facts = [(info.filename, (*info.date_time, info.external_attr)) for info in archive.infolist()]
        elif ".tar" in path.name:
            with tarfile.open(path) as tar:
                facts = [(info.name, (info.mtime, info.mode)) for info in tar]
        for number, (member, known) in enumerate(facts):
            for name in names_in(member):
                packed.setdefault(name, (number, *known))
    return packed


def _places(path: Path) -> dict[str, float]:
    """Return the position of the first occurrence of each word in a text."""
    places: dict[str, float] = {}
    for match in re.finditer(rb"[\w.\-]+", path.read_bytes()):
        word = match.group().decode("utf-8", "replace")
        places.setdefault(word, match.start())
        places.setdefault(word.split(".")[0], match.start())
    return places


def _grouped(answers: pd.DataFrame, groups: list[list[int]]) -> pd.DataFrame:
    numbers = pd.DataFrame({name: column for cells in answers for name, column in as_numbers(answers[cells]).items()})
    return pd.DataFrame([numbers.iloc[rows].mean() for rows in groups])


def as_numbers(cells: pd.Series[Any]) -> dict[str, pd.Series[Any]]:
    """Convert answers to numbers; texts to their alphabetical rank and their length."""
    numbers = to_numbers(cells.astype(float) if cells.dtype == bool else cells)
    if numbers.notna().mean() > 0.5:
        return {str(cells.name): numbers.fillna(numbers.mean()).astype(float).reset_index(drop=True)}
    text = cells.map(lambda cell: " ".join(map(str, cell)) if isinstance(cell, list | tuple) else str(cell))
    text = text.reset_index(drop=True)
    return {str(cells.name): text.rank(method="dense"), f"length of {cells.name}": text.str.len().astype(float)}
