"""Streaming reader and writer of BSON files; only the top-level fields of a document are parsed."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from podium.errors import RawDataError
from podium.safefs.atomic_files import missing_raw_file

_DOCUMENT, _ARRAY, _BINARY, _INT32, _INT64 = 0x03, 0x04, 0x05, 0x10, 0x12
_FIXED_SIZES = {0x01: 8, 0x07: 12, 0x08: 1, 0x09: 8, 0x0A: 0, _INT32: 4, 0x11: 8, _INT64: 8}
"""Sizes of numbers, identifiers, booleans, times and null."""
_BYTES_BESIDE_LENGTH = {0x02: 4, _DOCUMENT: 0, _ARRAY: 0, _BINARY: 5}
"""Number of bytes of a string, document, array or binary that its length prefix does not count."""


def read_documents(path: Path) -> Iterator[bytes]:
    """Yield the documents of a file, one at a time."""
    try:
        with path.open("rb") as file:
            while head := file.read(4):
                size = int.from_bytes(head, "little")
                document = head + file.read(max(size - 4, 1))
                if len(document) != size:
                    raise RawDataError(f"{path} is damaged or truncated within a document. Download it again.")
                yield document
    except FileNotFoundError as error:
        raise missing_raw_file(path) from error


def integer_field(document: bytes, name: str) -> int:
    """Return the value of an integer field."""
    start, end = _find(document, name)
    return int.from_bytes(document[start + len(name) + 2 : end], "little", signed=True)


def without_field(document: bytes, name: str) -> bytes:
    """Return the document without a field."""
    start, end = _find(document, name)
    return struct.pack("<i", len(document) - (end - start)) + document[4:start] + document[end:]


def make_document(fields: Mapping[str, Any]) -> bytes:
    """Return a document of integers, bytes, lists and further documents."""
    elements = b"".join(_element(name, value) for name, value in fields.items())
    return struct.pack("<i", len(elements) + 5) + elements + b"\0"


def _element(name: str, value: int | bytes | Sequence[Any] | Mapping[str, Any]) -> bytes:
    if isinstance(value, int):
        kind, content = _INT32, struct.pack("<i", value)
    elif isinstance(value, bytes):
        kind, content = _BINARY, struct.pack("<iB", len(value), 0) + value
    elif isinstance(value, Mapping):
        kind, content = _DOCUMENT, make_document(value)
    else:
        kind, content = _ARRAY, make_document({str(place): item for place, item in enumerate(value)})
    return bytes([kind]) + name.encode() + b"\0" + content


def _find(document: bytes, name: str) -> tuple[int, int]:
    """Return the start of a field and of the next one."""
    wanted, start = name.encode(), 4
    while (kind := document[start]) != 0:
        name_end = document.index(0, start + 1)
        end = name_end + 1 + _size(document, kind, name_end + 1)
        if document[start + 1 : name_end] == wanted:
            return start, end
        start = end
    raise RawDataError(f"A BSON document has no field '{name}'.")


def _size(document: bytes, kind: int, start: int) -> int:
    if kind in _FIXED_SIZES:
        return _FIXED_SIZES[kind]
    if kind not in _BYTES_BESIDE_LENGTH:
        raise RawDataError(f"A BSON document has a field of the unexpected type 0x{kind:02x}.")
    return int.from_bytes(document[start : start + 4], "little") + _BYTES_BESIDE_LENGTH[kind]
