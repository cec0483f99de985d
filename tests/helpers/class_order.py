"""Raw data put into the order of its answers, as the archives of many real competitions are."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
import tempfile
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium.data.formats.archives import extract, write_7z
from podium.integrity.audit.file_metadata import names_in
from podium.task import Columns, Task

LABELS = {
    "chaii-hindi-and-tamil-question-answering": "answer_text",
    "dog-breed-identification": "breed",
    "imdb": "label",
    "iwildcam-2019-fgvc6": "category_id",
    "leaf-classification": "species",
    "parkinsons-disease": "updrs_1",
    "rsna-2022-cervical-spine-fracture-detection": "patient_overall",
    "siim-covid19-detection": "label",
    "spooky-author-identification": "author",
    "stanford-covid-vaccine": "reactivity",
    "tensorflow2-question-answering": "annotations",
    "uw-madison-gi-tract-image-segmentation": "segmentation",
}
"""Columns of raw tables that hold the answers, where they are not called as in a submission."""
ARRAYS = {
    "cifar10": ("test_labels.npy", "test_images.npy"),
    "ml2021spring-hw2": ("timit_11/timit_11/train_label_11.npy", "timit_11/timit_11/train_11.npy"),
}
"""Raw arrays: the labels, and what they belong to."""
ARCHIVES = (".zip", ".7z", ".tar", ".tar.gz")
UNLABELLED = -1.0


def all_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The files below a folder and those inside their archives."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        yield path.relative_to(folder).as_posix(), path.read_bytes()
        if path.name.endswith(ARCHIVES):
            yield from members(path)


def members(archive: Path) -> list[tuple[str, bytes]]:
    """The files in an archive."""
    with tempfile.TemporaryDirectory() as folder:
        extract(archive, Path(folder))
        return [
            (path.relative_to(folder).as_posix(), path.read_bytes())
            for path in sorted(Path(folder).rglob("*"))
            if path.is_file()
        ]


class Labels:
    """Finds the labels of raw files: by what is shown of them under an id, or else by an id in their name."""

    def __init__(self, public: Path, by_id: Mapping[str, float]) -> None:
        self._by_id, self._by_content = by_id, dict[bytes, float]()
        for name, content in all_files(public):
            self._by_content[_digest(content)] = self._named(name)

    def of(self, name: str, content: bytes) -> float:
        """The label of a file; unlabelled ones are below all others."""
        found = self._by_content.get(_digest(content))
        return self._named(name) if found is None else found

    def _named(self, name: str) -> float:
        return max((self._by_id[key] for key in names_in(name) & self._by_id.keys()), default=UNLABELLED)

    @property
    def are_shown(self) -> bool:
        """Whether any file is shown under an id."""
        return any(label > UNLABELLED for label in self._by_content.values())


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def order_files(raw: Path, target: Path, labels: Labels) -> None:
    """Makes raw files again in the order of their labels, which their times and modes tell too."""
    found = [(path.relative_to(raw).as_posix(), path.read_bytes()) for path in sorted(raw.rglob("*")) if path.is_file()]
    for number, (name, content) in enumerate(_in_order(found, labels)):
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(ARCHIVES):
            pack(path, _in_order(members(raw / name), labels))
        else:
            path.write_bytes(content)
        os.utime(path, ns=(number * 10**9, number * 10**9))
        path.chmod(0o600 if number % 2 else 0o644)


def _in_order(files: Iterable[tuple[str, bytes]], labels: Labels) -> list[tuple[str, bytes]]:
    return sorted(files, key=lambda file: (labels.of(*file), _digest(file[1])))


def pack(path: Path, files: list[tuple[str, bytes]]) -> None:
    """Packs files in the given order, each a little later than the one before."""
    if path.suffix == ".7z":
        write_7z(path, files)
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for number, (name, content) in enumerate(files):
                date = pd.Timestamp("2001-01-01") + pd.Timedelta(minutes=number)
                archive.writestr(zipfile.ZipInfo(name, date.timetuple()[:6]), content)
    else:
        with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as archive:
            for number, (name, content) in enumerate(files):
                facts = tarfile.TarInfo(name)
                facts.size, facts.mtime = len(content), number
                archive.addfile(facts, io.BytesIO(content))


def answer_columns(form: Columns) -> tuple[str, ...]:
    """The answers' names for the target columns."""
    names = form.answers_target or form.target
    return (names,) if isinstance(names, str) else names


def order_rows(raw: Path, target: Path, task: Task) -> bool:
    """Copies raw data with the rows of its tables and arrays sorted by their labels; whether there are any."""
    columns = {*task.form.targets, *answer_columns(task.form), LABELS.get(task.id, "")}
    count = _copy_in_order(raw, target, columns)
    for names in filter(None, [ARRAYS.get(task.id)]):
        order = np.argsort(np.load(raw / names[0]).astype(int), kind="stable")
        for name in names:
            np.save(target / name, np.load(raw / name)[order])
            count += 1
    return count > 0


def _copy_in_order(raw: Path, target: Path, columns: Collection[str]) -> int:
    """Returns how many tables, also of those in archives, have one of the columns."""
    count = 0

    def ordered(name: str, content: bytes) -> bytes:
        nonlocal count
        sort = {".csv": _sorted_csv, ".tsv": _sorted_tsv, ".json": _sorted_json, ".jsonl": _sorted_lines}.get(
            Path(name).suffix
        )
        new = sort(content, columns) if sort else None
        count += new is not None
        return content if new is None else new

    for path in sorted(path for path in raw.rglob("*") if path.is_file()):
        new = target / path.relative_to(raw)
        new.parent.mkdir(parents=True, exist_ok=True)
        if path.name.endswith(ARCHIVES):
            pack(new, [(name, ordered(name, content)) for name, content in members(path)])
        else:
            new.write_bytes(ordered(path.name, path.read_bytes()))
    return count


def _sorted_csv(content: bytes, columns: Collection[str], separator: str = ",") -> bytes | None:
    try:
        table = pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False, sep=separator)
    except ValueError:  # another encoding, or lines that are not rows
        return None
    column = next((name for name in table.columns if name in columns), None)
    if column is None:
        return None
    return bytes(table.iloc[_order(table[column])].to_csv(index=False, sep=separator).encode())


def _sorted_tsv(content: bytes, columns: Collection[str]) -> bytes | None:
    return _sorted_csv(content, columns, "\t")


def _sorted_json(content: bytes, columns: Collection[str]) -> bytes | None:
    try:
        rows = json.loads(content)
    except UnicodeDecodeError:
        return None
    except ValueError:
        return _sorted_lines(content, columns)
    if not (isinstance(rows, list) and rows and isinstance(rows[0], dict)):
        return None
    ordered = _sorted_rows(rows, columns)
    return None if ordered is None else json.dumps(ordered).encode()


def _sorted_lines(content: bytes, columns: Collection[str]) -> bytes | None:
    ordered = _sorted_rows([json.loads(line) for line in content.splitlines()], columns)
    return None if ordered is None else "".join(json.dumps(row) + "\n" for row in ordered).encode()


def _sorted_rows(rows: list[dict[str, Any]], columns: Collection[str]) -> list[dict[str, Any]] | None:
    column = next((name for name in rows[0] if name in columns), None)
    if column is None:
        return None
    return [rows[number] for number in _order(pd.Series([str(row.get(column)) for row in rows]))]


def _order(cells: pd.Series[Any]) -> list[int]:
    numbers = pd.to_numeric(cells, errors="coerce")
    keys = numbers if numbers.notna().all() else cells
    return [int(number) for number in keys.argsort(kind="stable")]
