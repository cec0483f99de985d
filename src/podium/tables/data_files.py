"""Data files other than tables (images, sounds, arrays), and their relation to rows."""

from __future__ import annotations

import re
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.tables.describe_tables import IS_TABLE, MAX_UNSPLIT_BYTES, UNREADABLE, as_text
from podium.tables.profile import FileGroup, FilePatterns, Profile

if TYPE_CHECKING:
    import pandas as pd

IMAGES = frozenset({".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif"})
AUDIO = frozenset({".wav", ".aif", ".aiff", ".flac", ".mp3", ".ogg"})
ARRAYS = frozenset({".npy", ".npz", ".bin", ".dcm", ".bson", ".parquet", ".xyz"})
MEDIA = IMAGES | AUDIO | ARRAYS
_ARCHIVE = re.compile(r"\.(zip|7z|tar|tgz|tar\.gz)$", re.IGNORECASE)
_EXAMPLES = 5
MASK_WORDS = re.compile(r"mask|segment|annotation|truth|outline", re.IGNORECASE)
"""Names of folders with masks, which are targets and not inputs."""
MIN_FILES = 10
"""Minimum number of files in a group whose folders or names give their class."""

Paths = dict[tuple[str, str], list[str]]
"""Relative paths of files, by folder (or archive) and suffix."""


def list_files(public: Path) -> tuple[int, list[str]]:
    """Return the total size of all files, and their paths."""
    size, names = 0, []
    for path in sorted(public.rglob("*")):
        if path.is_file():
            size += path.stat().st_size
            names.append(path.relative_to(public).as_posix())
    return size, names


def group_files(public: Path, listed: Sequence[str]) -> Paths:
    """Return the files other than tables, also those in archives, by folder and suffix."""
    groups: Paths = {}
    for name in listed:
        path = Path(name)
        if path.suffix.lower() in MEDIA | {".txt"} and len(path.parts) > 1:
            groups.setdefault((path.parts[0], path.suffix.lower()), []).append(Path(*path.parts[1:]).as_posix())
        elif _ARCHIVE.search(name) and not IS_TABLE.search(name):
            for inner in _archived_files(public / name):
                groups.setdefault((name, Path(inner).suffix.lower()), []).append(inner)
    return groups


def packed_tables(groups: Paths) -> list[str]:
    """Return the tables in zip archives of several files, as paths below the archives."""
    return [
        f"{folder}/{name}"
        for (folder, _), names in groups.items()
        if folder.lower().endswith(".zip")
        for name in names
        if IS_TABLE.search(name)
    ]


def describe_files(groups: Paths) -> tuple[FileGroup, ...]:
    """Return the description of files in a profile."""
    return tuple(FileGroup(*key, len(names), tuple(names[:_EXAMPLES])) for key, names in sorted(groups.items()))


def _archived_files(path: Path) -> list[str]:
    """Return the files in an archive; none if it cannot be read quickly."""
    try:
        if path.suffix.lower() == ".zip":
            with zipfile.ZipFile(path) as archive:
                names = archive.namelist()
        elif path.stat().st_size > MAX_UNSPLIT_BYTES:
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


def find_file_patterns(
    groups: Paths, train: pd.DataFrame, test: pd.DataFrame | None, sample: pd.DataFrame, ids: Sequence[str]
) -> FilePatterns | None:
    """Return the patterns of the files of train and test rows, or None if rows have no files."""
    media = {key: names for key, names in groups.items() if key[1] in MEDIA}
    firsts = {column: cells.iloc[0] for column in train if len(cells := train[column].dropna())}
    named = [column for column, first in firsts.items() if str(first).lower().endswith(tuple(MEDIA))]
    for column in dict.fromkeys([*named, *ids, *train.columns]):
        found = _pattern(train[column].dropna().head(50), media, prefer="train") if column in train else None
        if found is None:
            continue
        known: Iterable[Any] = sample[ids[0]].head(50) if ids and ids[0] in sample else ()
        if test is not None and column in test:
            known = test[column].dropna().head(50)
        return FilePatterns(str(column), found, _pattern(known, media, prefer="test", like=found) or found)
    return None


def has_images(profile: Profile) -> bool:
    """Return whether some or all rows have an image."""
    if profile.file_patterns is None:
        return False
    return profile.modality == "images" or profile.file_patterns.train.lower().endswith(tuple(IMAGES))


def _pattern(values: Iterable[Any], media: Paths, *, prefer: str, like: str = "") -> str | None:
    """Return a pattern that turns most values into paths: `train/{}.png`, or `train/*/{}.png` if folders differ.

    Args:
        prefer: A word that the folder's name should contain.
        like: Another pattern; files with the same suffix are preferred.
    """
    texts = {as_text(value) for value in values}
    ranked = sorted(
        media,
        key=lambda one: (
            *(not like.endswith(one[1]), _rank(one[1]), bool(MASK_WORDS.search(one[0]))),
            *(prefer not in one[0].lower(), one),
        ),
    )
    for folder, suffix in ranked:
        paths: dict[str, list[str]] = {}
        for name in media[folder, suffix]:
            paths.setdefault(name.rpartition("/")[2], []).append(name)
        for ending in ("", suffix):
            starts = Counter(
                start for text in texts if (start := _prefix(f"{text}{ending}", paths, prefer)) is not None
            )
            if starts.total() <= 0.5 * len(texts):
                continue
            start, count = starts.most_common(1)[0]
            if count > 0.5 * len(texts):
                return f"{folder}/{start}{{}}{ending}"
            return f"{folder}/*/{{}}{ending}"
    return None


def _rank(suffix: str) -> int:
    """Return the sort rank of a suffix: images first, since they are the easiest to read."""
    return 0 if suffix in IMAGES else 1 if suffix in AUDIO else 2


def _prefix(name: str, paths: dict[str, list[str]], prefer: str) -> str | None:
    """Return the prefix that turns a name into the path of a file; a star if folders differ."""
    same = paths.get(name.rpartition("/")[2], [])
    exact = [path for path in same if path == name or path.endswith(f"/{name}")]
    if not exact:
        return "*/" if len(same) == 1 else None
    best = min(exact, key=lambda path: (prefer not in path.lower(), path))
    return best[: len(best) - len(name)]


def files_as_table(groups: Paths, tests: Iterable[str], classes: Sequence[str]) -> tuple[str, pd.DataFrame, str] | None:
    """Return a table of files whose folders or names give their class: its name, its rows and the column of classes.

    Args:
        tests: The names of the rows to predict, which must also have files.
        classes: The names of the classes, if known.
    """
    from podium.tables.packed_files import file_name_parts

    if _pattern(tests, {key: names for key, names in groups.items() if key[1] in MEDIA}, prefer="test") is None:
        return None
    found: list[tuple[float, str, pd.DataFrame, str]] = []
    for (folder, suffix), names in groups.items():
        if suffix not in MEDIA or len(names) < MIN_FILES or "test" in folder.lower():
            continue
        frame = file_name_parts(sorted(names))
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
