"""The tables in public files: of CSV, JSON, TFRecords, and of what pictures and DICOM files say about themselves."""

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

MOST_ROWS = 100_000
LARGEST_BYTES = 256 << 20
_SHORT = 200
"""Characters of a cell; longer texts are the content, not a label."""
_SAME = {"True": "1", "False": "0", "true": "1", "false": "0"}


@dataclass(frozen=True)
class PublicTable:
    """Rows of a public file, every cell a short text."""

    name: str
    """The file."""
    cells: pd.DataFrame


def read_tables(name: str, path: Path) -> Iterator[PublicTable]:
    """The tables of a file; none if it holds no table, or cannot be read."""
    reader = next((reader for ending, reader in _READERS.items() if name.lower().endswith(ending)), None)
    if reader is None or path.stat().st_size > LARGEST_BYTES:
        return
    try:
        rows = reader(path)
    except (PodiumError, OSError, ValueError, LookupError, TypeError, RecursionError, struct.error):
        return
    if len(rows) and len(rows.columns) > 1:
        yield PublicTable(name, rows.head(MOST_ROWS).map(plain))


def plain(value: object) -> str:
    """A cell as text that compares equal however it was written: 1, 1.0 and True are one; long ones are left out."""
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value)
    short = _SAME.get(text, text.removesuffix(".0"))
    return short if len(short) <= _SHORT else ""


def _read_csv(path: Path, separator: str = ",") -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False, nrows=MOST_ROWS, sep=separator)


def _read_tsv(path: Path) -> pd.DataFrame:
    return _read_csv(path, "\t")


def _read_json(path: Path) -> pd.DataFrame:
    text = path.read_text(encoding="utf-8")
    try:
        rows = json.loads(text)
    except ValueError:
        rows = [json.loads(line) for line in text.splitlines()[:MOST_ROWS]]
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
    return value if not isinstance(value, bytes) else value.decode("utf-8", "replace") if len(value) < _SHORT else ""


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
    """What a picture says about itself besides its pixels: EXIF, comments, size of the palette."""
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
    """The short elements of a DICOM file with explicit value representations; the pixels are not read."""
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
        if group > 0x7000 or size > _SHORT or not kind.isalpha():
            break
        found[f"dicom {group:04x},{element:04x}"] = data[place : place + size].decode("latin-1").strip("\0 ")
        place += size
    return found
