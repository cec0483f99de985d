"""Tables in public files: CSV, JSON, TFRecords, and the headers of pictures and DICOM files."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from podium.data.formats.tfrecords import features_of, read_records
from podium.errors import PodiumError

MAX_ROWS = 100_000
MAX_BYTES = 256 << 20
_MAX_CELL_CHARACTERS = 200
"""Largest number of characters of a cell; longer texts are content, not labels."""
_SAME = {"True": "1", "False": "0", "true": "1", "false": "0"}


@dataclass(frozen=True)
class PublicTable:
    """Rows of a public file, every cell a short text."""

    name: str
    """File name."""
    cells: pd.DataFrame


def read_tables(name: str, path: Path) -> Iterator[PublicTable]:
    """Yield the tables of a file; none if it holds no table or cannot be read."""
    reader = next((reader for ending, reader in _READERS.items() if name.lower().endswith(ending)), None)
    if reader is None or path.stat().st_size > MAX_BYTES:
        return
    try:
        rows = reader(path)
    except (PodiumError, OSError, ValueError, LookupError, TypeError, RecursionError, struct.error):
        return
    if len(rows) and len(rows.columns) > 1:
        yield PublicTable(name, rows.head(MAX_ROWS).map(plain))


def plain(value: object) -> str:
    """Return a cell as normalised text: 1, 1.0 and True compare equal; long texts become empty."""
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value)
    short = _SAME.get(text, text.removesuffix(".0"))
    return short if len(short) <= _MAX_CELL_CHARACTERS else ""


def _read_csv(path: Path, separator: str = ",") -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False, nrows=MAX_ROWS, sep=separator)


def _read_tsv(path: Path) -> pd.DataFrame:
    return _read_csv(path, "\t")


def _read_json(path: Path) -> pd.DataFrame:
    text = path.read_text(encoding="utf-8")
    try:
        rows = json.loads(text)
    except ValueError:
        rows = [json.loads(line) for line in text.splitlines()[:MAX_ROWS]]
    if isinstance(rows, dict):
        rows = next((value for value in rows.values() if _is_rows(value)), [])
    return pd.DataFrame(rows) if _is_rows(rows) else pd.DataFrame()


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _read_records(path: Path) -> pd.DataFrame:
    rows = []
    for record in read_records(path):
        values = {name: found[0] for name, found in features_of(record).items() if len(found) == 1}
        rows.append({name: _text(value) for name, value in values.items()})
    return pd.DataFrame(rows)


def _text(value: bytes | int | float) -> Any:
    return (
        value
        if not isinstance(value, bytes)
        else value.decode("utf-8", "replace")
        if len(value) < _MAX_CELL_CHARACTERS
        else ""
    )


_READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    ".csv": _read_csv,
    ".tsv": _read_tsv,
    ".json": _read_json,
    ".jsonl": _read_json,
    ".tfrec": _read_records,
    ".tfrecord": _read_records,
    ".tfrecords": _read_records,
}


def picture_facts(path: Path) -> dict[str, str]:
    """Return the metadata of a picture: EXIF, comments, size of the palette."""
    from PIL import ExifTags, Image

    try:
        with Image.open(path) as image:
            found = {f"exif {ExifTags.TAGS.get(tag, tag)}": value for tag, value in image.getexif().items()}
            found |= {f"info {name}": value for name, value in image.info.items() if isinstance(value, str | int)}
    except (OSError, ValueError, SyntaxError):
        return {}
    layout = ("exif ImageWidth", "exif ImageLength", "exif Strip", "exif Bits", "exif Compression", "exif Photometric")
    return {str(name): plain(value) for name, value in found.items() if not str(name).startswith(layout)}


def dicom_facts(path: Path) -> dict[str, str]:
    """Return the short elements of a DICOM file with explicit value representations; the pixels are not read."""
    data = path.read_bytes()[: 1 << 16]
    if data[128:132] != b"DICM":
        return {}
    found, place = {}, 132
    while place + 8 <= len(data):
        group, element = struct.unpack_from("<HH", data, place)
        kind = data[place + 4 : place + 6]
        long = kind in (b"OB", b"OW", b"OF", b"SQ", b"UT", b"UN")
        if long and place + 12 > len(data):
            break
        size = struct.unpack_from("<I", data, place + 8)[0] if long else struct.unpack_from("<H", data, place + 6)[0]
        place += 12 if long else 8
        if group > 0x7000 or size > _MAX_CELL_CHARACTERS or not kind.isalpha():
            break
        found[f"dicom {group:04x},{element:04x}"] = data[place : place + size].decode("latin-1").strip("\0 ")
        place += size
    return found
