"""Finds the files that are no tables, and how rows lead to them."""

from __future__ import annotations

import re
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.recipes.profile import Files, Pointers
from podium.recipes.tables import IS_TABLE, LARGEST_BYTES, UNREADABLE, as_text

if TYPE_CHECKING:
    import pandas as pd

PICTURES = frozenset({".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif"})
SOUNDS = frozenset({".wav", ".aif", ".aiff", ".flac", ".mp3", ".ogg"})
ARRAYS = frozenset({".npy", ".npz", ".bin", ".dcm", ".bson", ".parquet", ".xyz"})
MEDIA = PICTURES | SOUNDS | ARRAYS
_ARCHIVE = re.compile(r"\.(zip|7z|tar|tgz|tar\.gz)$", re.IGNORECASE)
_EXAMPLES = 5
LEAST_FILES = 10
"""So many files must lie in folders that tell their class."""

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
        if path.suffix.lower() in MEDIA | {".txt"} and len(path.parts) > 1:
            groups.setdefault((path.parts[0], path.suffix.lower()), []).append(Path(*path.parts[1:]).as_posix())
        elif _ARCHIVE.search(name) and not IS_TABLE.search(name):
            for inner in _inside(public / name):
                groups.setdefault((name, Path(inner).suffix.lower()), []).append(inner)
    return groups


def describe_files(groups: Paths) -> tuple[Files, ...]:
    """What is said of files in a profile."""
    return tuple(Files(*key, len(names), tuple(names[:_EXAMPLES])) for key, names in sorted(groups.items()))


def _inside(path: Path) -> list[str]:
    """The files in an archive; none if it cannot be read, or not soon."""
    try:
        if path.suffix.lower() == ".zip":
            with zipfile.ZipFile(path) as archive:
                names = archive.namelist()
        elif path.stat().st_size > LARGEST_BYTES:
            return []
        elif path.suffix.lower() == ".7z":
            import py7zr

            with py7zr.SevenZipFile(path) as packed:
                names = [one.filename for one in packed.list() if not one.is_directory]
        else:
            with tarfile.open(path) as bundle:
                names = [one.name for one in bundle if one.isfile()]
    except UNREADABLE:
        return []
    return [name for name in names if not name.endswith("/") and not name.startswith("__MACOSX")]


def find_pointers(
    groups: Paths, train: pd.DataFrame, test: pd.DataFrame | None, sample: pd.DataFrame, ids: Sequence[str]
) -> Pointers | None:
    """How the rows of train and test lead to files, if they do."""
    media = {key: names for key, names in groups.items() if key[1] in MEDIA}
    named = [column for column in train if str(train[column].iloc[0]).lower().endswith(tuple(MEDIA))]
    for column in dict.fromkeys([*named, *ids, *train.columns]):
        found = _pattern(train[column].head(50), media, prefer="train") if column in train else None
        if found is None:
            continue
        known: Iterable[Any] = sample[ids[0]].head(50) if ids and ids[0] in sample else ()
        if test is not None and column in test:
            known = test[column].head(50)
        return Pointers(str(column), found, _pattern(known, media, prefer="test", like=found) or found)
    return None


def _pattern(values: Iterable[Any], media: Paths, *, prefer: str, like: str = "") -> str | None:
    """The pattern that makes paths of most values, such as `train/{}.png`, or `train/*/{}.png` if folders differ.

    Args:
        prefer: a word that the folder's name should have.
        like: another pattern; files of the same kind are looked for first.
    """
    texts = {as_text(value) for value in values}
    ranked = sorted(
        media, key=lambda one: (not like.endswith(one[1]), *_rank(one[1]), prefer not in one[0].lower(), one)
    )
    for folder, suffix in ranked:
        places: dict[str, list[str]] = {}
        for name in media[folder, suffix]:
            places.setdefault(name.rpartition("/")[2], []).append(name)
        for ending in ("", suffix):
            starts = Counter(
                start for text in texts if (start := _start(f"{text}{ending}", places, prefer)) is not None
            )
            if starts.total() <= 0.5 * len(texts):
                continue
            start, count = starts.most_common(1)[0]
            if count > 0.5 * len(texts):
                return f"{folder}/{start}{{}}{ending}"
            return f"{folder}/*/{{}}{ending}"
    return None


def _rank(suffix: str) -> tuple[int]:
    """Pictures are read most easily."""
    return (0 if suffix in PICTURES else 1 if suffix in SOUNDS else 2,)


def _start(name: str, places: dict[str, list[str]], prefer: str) -> str | None:
    """What has to be put before a name so that it is the path of a file; a star if only the file's name is the same."""
    same = places.get(name.rpartition("/")[2], [])
    paths = [path for path in same if path == name or path.endswith(f"/{name}")]
    if not paths:
        return "*/" if len(same) == 1 else None
    best = min(paths, key=lambda path: (prefer not in path.lower(), path))
    return best[: len(best) - len(name)]


def files_as_table(groups: Paths, tests: Iterable[str], classes: Sequence[str]) -> tuple[str, pd.DataFrame, str] | None:
    """The files whose folders or names tell their class, as a table: its name, its rows and the column that does so.

    Args:
        tests: names of the rows to predict, which must lead to files as well.
        classes: what the classes are called, as far as that is known.
    """
    from podium.recipes.kit.archives import described_files

    if _pattern(tests, {key: names for key, names in groups.items() if key[1] in MEDIA}, prefer="test") is None:
        return None
    found: list[tuple[float, str, pd.DataFrame, str]] = []
    for (folder, suffix), names in groups.items():
        if suffix not in MEDIA or len(names) < LEAST_FILES or "test" in folder.lower():
            continue
        frame = described_files(sorted(names))
        for rank, column in enumerate(("folder", "first", "last")):
            counts = frame[column].value_counts()
            named = len(set(counts.index) & set(classes)) if classes else len(counts)
            if len(counts) > 1 and counts.median() >= 2 and (rank == 0 or len(counts) <= 20) and named > 0:
                rank -= 3 * (set(counts.index) == {"0", "1"})
                found.append((len(frame) / 2**rank, f"{folder}/*{suffix}", frame, column))
    if not found:
        return None
    _, name, frame, column = max(found, key=lambda one: one[0])
    return name, frame, column
