"""Reader for files of the public data, in folders or archives."""

import csv
import io
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from podium.tables.script_settings import CORES, DATA, time_used

PACKED = re.compile(r"^(.*?\.(?:zip|7z|tar|tgz|tar\.gz))/(.*)$")


@cache
def open_archive(path: str) -> zipfile.ZipFile:
    """Return an open zip archive of the public data."""
    return zipfile.ZipFile(DATA / path)


@cache
def unpack_archive(path: str) -> Path:
    """Unpack an archive and return its folder, for formats without quick access to single files."""
    folder = Path("unpacked", path).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if path.endswith(".7z"):
        import py7zr

        with py7zr.SevenZipFile(DATA / path) as packed:
            packed.extractall(folder)
    else:
        with tarfile.open(DATA / path) as archive:
            if hasattr(tarfile, "data_filter"):
                archive.extractall(folder, filter="data")
            else:  # before Python 3.11.4
                archive.extractall(folder)
    return folder


def read_file(path: str) -> bytes:
    """Return the content of a file, which may be inside an archive: `train.zip/a/1.png`."""
    packed = PACKED.match(path)
    if packed is None or (DATA / path).exists():
        return (DATA / path).read_bytes()
    if packed[1].endswith(".zip"):
        return open_archive(packed[1]).read(packed[2])
    return (unpack_archive(packed[1]) / packed[2]).read_bytes()


def read_packed_file(file: str) -> bytes:
    """Return the content of a file; of an archive, the content of its first file."""
    if not file.endswith((".zip", ".7z")):
        return read_file(file)
    return read_file(f"{file}/{next(name for name in files_in(file) if not name.startswith('__MACOSX'))}")


def vary_columns(content: bytes, columns: list[str]) -> bytes:
    """Return a CSV file in which some columns are replaced by numbers near 0.5 that differ from row to row."""
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8"))))
    for index, row in enumerate(rows):
        row.update(dict.fromkeys(columns, f"{0.45 + 0.1 * index / len(rows):.6f}"))
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode("utf-8")


@cache
def files_in(folder: str) -> list[str]:
    """Return the paths of all files in a folder or archive, sorted."""
    if not (DATA / folder).is_dir() and folder.endswith(".zip"):
        return sorted(name for name in open_archive(folder).namelist() if not name.endswith("/"))
    root = DATA / folder if (DATA / folder).is_dir() else unpack_archive(folder)
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def file_paths(pattern: str, names: Iterable[str]) -> list[str]:
    """Return the paths that a pattern such as `train/{}.png` gives for names.

    A star, as in `train/*/{}.png`, matches folders that differ from file to file.
    """
    root, star, ending = pattern.partition("/*/")
    if not star:
        return [pattern.format(name) for name in names]
    places = {path.rpartition("/")[2]: path for path in files_in(root)}
    wanted = [ending.format(name).rpartition("/")[2] for name in names]
    return [f"{root}/{places.get(name, name)}" for name in wanted]


def read_all(read: Callable[[str], np.ndarray], paths: list[str], until: float) -> np.ndarray:
    """Return the results of a function on files, in order, stopping when the time is up.

    Args:
        until: The share of the script's time after which to stop.
    """
    found: list[np.ndarray] = []
    with ThreadPoolExecutor(CORES) as pool:
        for start in range(0, len(paths), 256):
            found += pool.map(read, paths[start : start + 256])
            if time_used() > until:
                break
    return np.stack(found)


def file_table(folder: str, suffix: str) -> pd.DataFrame:
    """Return a table with one row per file with a suffix."""
    return file_name_parts([name for name in files_in(folder) if name.lower().endswith(suffix)])


def file_name_parts(names: list[str]) -> pd.DataFrame:
    """Return a table of each file's path, folder, and first and last part of its name, without test files."""
    names = [name for name in names if not re.search(r"\btest", name, re.IGNORECASE)]
    stems = [name.rpartition("/")[2].rpartition(".")[0] for name in names]
    parts = [re.split(r"[._ -]", stem) for stem in stems]
    return pd.DataFrame(
        {
            "file": names,
            "folder": [name.rpartition("/")[0].rpartition("/")[2] for name in names],
            "first": [part[0] for part in parts],
            "last": [part[-1] for part in parts],
        }
    )
