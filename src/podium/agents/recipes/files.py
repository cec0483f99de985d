"""Finds the files that are no tables, and how rows lead to them."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.agents.recipes.profile import Files, Pointers
from podium.agents.recipes.tables import IS_TABLE, as_text

if TYPE_CHECKING:
    import pandas as pd

PICTURES = frozenset({".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif"})
SOUNDS = frozenset({".wav", ".aif", ".aiff", ".flac", ".mp3", ".ogg"})
ARRAYS = frozenset({".npy", ".npz", ".bin", ".dcm", ".bson", ".parquet", ".xyz"})
_EXAMPLES = 5

Paths = dict[tuple[str, str], list[str]]
"""Paths of files relative to their folder or archive, by that and their suffix."""


def list_files(public: Path) -> tuple[int, list[str]]:
    """The size of all files together, and their paths."""
    size, names = 0, []
    for path in sorted(public.rglob("*")):
        if path.is_file():
            size += path.stat().st_size
            names.append(path.relative_to(public).as_posix())
    return size, names


def group_files(public: Path, listed: Sequence[str]) -> Paths:
    """The files that are no tables, by folder and suffix; archives are looked into."""
    groups: Paths = {}
    for name in listed:
        path = Path(name)
        if path.suffix.lower() in PICTURES | SOUNDS | ARRAYS | {".txt"} and len(path.parts) > 1:
            groups.setdefault((path.parts[0], path.suffix.lower()), []).append(Path(*path.parts[1:]).as_posix())
        elif path.suffix.lower() == ".zip" and not IS_TABLE.search(name):
            for inner in _inside(public / name):
                groups.setdefault((name, Path(inner).suffix.lower()), []).append(inner)
    return groups


def describe_files(groups: Paths) -> tuple[Files, ...]:
    """What is said of files in a profile."""
    return tuple(Files(*key, len(names), tuple(names[:_EXAMPLES])) for key, names in sorted(groups.items()))


def _inside(path: Path) -> list[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            return [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX")]
    except (OSError, zipfile.BadZipFile):
        return []


def find_pointers(groups: Paths, train: pd.DataFrame, sample: pd.DataFrame, ids: Sequence[str]) -> Pointers | None:
    """How the rows of train and test lead to files, if they do."""
    media = {key: set(names) for key, names in groups.items() if key[1] in PICTURES | SOUNDS | ARRAYS}
    for column in dict.fromkeys([*ids, *train.columns]):
        found = _pattern(train[column].head(50), media, prefer="train") if column in train else None
        if found is not None:
            known = sample[ids[0]].head(50) if ids and ids[0] in sample else ()
            return Pointers(str(column), found, _pattern(known, media, prefer="test") or found)
    return None


def _pattern(values: Iterable[Any], media: dict[tuple[str, str], set[str]], *, prefer: str) -> str | None:
    """The pattern that makes paths of most values, such as `train/{}.png`."""
    texts = {as_text(value) for value in values}
    for (folder, suffix), names in sorted(media.items(), key=lambda one: (prefer not in one[0][0].lower(), one[0])):
        inner = {name.rpartition("/")[0] for name in names}
        for middle in sorted({f"{path}/" if path else "" for path in inner}) if len(inner) <= 3 else [""]:
            for ending in ("", suffix):
                if texts and sum(f"{middle}{text}{ending}" in names for text in texts) > 0.5 * len(texts):
                    return f"{folder}/{middle}{{}}{ending}"
    return None
