"""Obfuscated public folder: tables with new names, everything else unchanged."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from podium.catalog.obfuscation.renaming import Names, seed_of
from podium.data.formats.archives import opened_member
from podium.safefs.atomic_files import link_file
from podium.task import Task

MAX_CATEGORIES = 60
"""Maximum number of distinct values of a category; columns with more are free text and stay unchanged."""
MAX_CATEGORY_CHARACTERS = 60
_ROLES = re.compile(r"train|test|valid", re.IGNORECASE)
_BOOLEANS = {"true", "false", "yes", "no", "y", "n", "t", "f", ""}


def obfuscate_folder(source: Path, target: Path, base: Task, columns: dict[str, str]) -> Names:
    """Write the files of a public folder under new names, tables with new columns, ids and categories.

    Args:
        columns: The new names of ids and targets.
    """
    names = Names(seed_of(base.id), columns=dict(columns))
    files = sorted(path for path in source.rglob("*") if path.is_file())
    with opened_member(source / base.form.sample) as opened:
        sample = pd.read_csv(opened, dtype=str, keep_default_na=False)
    tables = {path: _read(path) for path in files if path.suffix == ".csv" and path != source / base.form.sample}
    others = [path for path in files if path.suffix != ".csv" and path != source / base.form.sample]
    ids = [name for name in base.form.ids if name in sample]
    names.ids_stay = any(path.name != "description.md" for path in others)  # images are named after ids
    every = (sample, *tables.values())
    names.learn_ids({row for table in every for name in ids if name in table for row in table[name]})
    for table in every:
        _learn(names, table, base)
    (target / "sample_submission.csv").write_text(_renamed(names, sample, base).to_csv(index=False), encoding="utf-8")
    for path, table in tables.items():
        place = target / _file_name(names, path.relative_to(source))
        place.parent.mkdir(parents=True, exist_ok=True)
        _renamed(names, table, base).to_csv(place, index=False)
    for path in others:
        if path.name != "description.md":
            # Only CSV tables are renamed; other formats keep their columns.
            link_file(path, target / path.relative_to(source))
    return names


def _read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def _learn(names: Names, table: pd.DataFrame, base: Task) -> None:
    for column in table:
        name = str(column)
        if name not in base.form.ids and _are_categories(table[name]):
            for text in sorted(set(table[name])):
                names.value(text)
        names.column(name)


def _are_categories(cells: pd.Series[str]) -> bool:
    """Return whether a column contains a few words that repeat."""
    values = set(cells.unique())
    if not 2 <= len(values) <= MAX_CATEGORIES or values <= _BOOLEANS or {each.lower() for each in values} <= _BOOLEANS:
        return False
    words = values - {""}
    if any(len(each) > MAX_CATEGORY_CHARACTERS for each in words) or len(cells) < 2 * len(values):
        return False
    return not all(re.fullmatch(r"[-+]?[\d.,:/ eE+-]+|nan|NaN|NA", each) for each in words)


def _renamed(names: Names, table: pd.DataFrame, base: Task) -> pd.DataFrame:
    renamed = {}
    for column in table:
        name, cells = str(column), table[column]
        if name in base.form.ids:
            cells = cells.map(names.new_id)
        elif _are_categories(cells) or set(cells) <= names.values.keys():
            cells = cells.map(lambda text: names.values.get(text, text) if text else text)
        renamed[names.column(name)] = cells
    return pd.DataFrame(renamed)


def _file_name(names: Names, path: Path) -> str:
    """Return the new name of a table, which keeps its role (train, test, valid) but not its subject."""
    key = path.as_posix()
    if key not in names.files:
        role = _ROLES.search(path.stem)
        stem = role[0].lower() if role else "table"
        taken = set(names.files.values())
        number = next(number for number in range(1, 10_000) if _numbered(stem, number) not in taken)
        names.files[key] = _numbered(stem, number)
    return names.files[key]


def _numbered(stem: str, number: int) -> str:
    return f"{stem}.csv" if number == 1 else f"{stem}_{number}.csv"
