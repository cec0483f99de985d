"""Files of the public data, in folders or packed into archives."""

import csv
import io
import re
import tarfile
import zipfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pandas as pd

from podium.recipes.kit.environment import DATA

PACKED = re.compile(r"^(.*?\.(?:zip|7z|tar|tgz|tar\.gz))/(.*)$")


@cache
def opened_archive(path: str) -> zipfile.ZipFile:
    """An archive of the public data."""
    return zipfile.ZipFile(DATA / path)


@cache
def unpacked(path: str) -> Path:
    """The folder that an archive has been unpacked to, because single files cannot be read from it quickly."""
    folder = Path("unpacked", path).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if path.endswith(".7z"):
        import py7zr

        with py7zr.SevenZipFile(DATA / path) as packed:
            packed.extractall(folder)
    else:
        with tarfile.open(DATA / path) as archive:
            archive.extractall(folder, filter="data")
    return folder


def file_bytes(path: str) -> bytes:
    """The content of a file, which may lie in an archive: `train.zip/a/1.png`."""
    packed = PACKED.match(path)
    if packed is None or (DATA / path).exists():
        return (DATA / path).read_bytes()
    if packed[1].endswith(".zip"):
        return opened_archive(packed[1]).read(packed[2])
    return (unpacked(packed[1]) / packed[2]).read_bytes()


def packed_bytes(file: str) -> bytes:
    """The content of a file, or of the first file in an archive."""
    if not file.endswith((".zip", ".7z")):
        return (DATA / file).read_bytes()
    return file_bytes(f"{file}/{next(name for name in listed_files(file) if not name.startswith('__MACOSX'))}")


def varied(content: bytes, columns: list[str]) -> bytes:
    """A CSV file of which some columns are replaced by numbers around 0.5 that differ from row to row."""
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8"))))
    for place, row in enumerate(rows):
        row.update(dict.fromkeys(columns, f"{0.45 + 0.1 * place / len(rows):.6f}"))
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode("utf-8")


@cache
def listed_files(folder: str) -> list[str]:
    """The files in a folder or archive and below, in order."""
    if not (DATA / folder).is_dir() and folder.endswith(".zip"):
        return sorted(name for name in opened_archive(folder).namelist() if not name.endswith("/"))
    root = DATA / folder if (DATA / folder).is_dir() else unpacked(folder)
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def paths_of(pattern: str, names: Iterable[str]) -> list[str]:
    """The paths that a pattern such as `train/{}.png` makes of names.

    A star, as in `train/*/{}.png`, stands for folders that differ from file to file.
    """
    root, star, ending = pattern.partition("/*/")
    if not star:
        return [pattern.format(name) for name in names]
    places = {path.rpartition("/")[2]: path for path in listed_files(root)}
    wanted = [ending.format(name).rpartition("/")[2] for name in names]
    return [f"{root}/{places.get(name, name)}" for name in wanted]


def file_table(folder: str, suffix: str) -> pd.DataFrame:
    """A table with a row for each file of a kind."""
    return described_files([name for name in listed_files(folder) if name.lower().endswith(suffix)])


def described_files(names: list[str]) -> pd.DataFrame:
    """Of every file its path, the folder it lies in, and the first and the last part of its name.

    Those of test are left out.
    """
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
