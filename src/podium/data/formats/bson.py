"""BSON: files of documents one after the other, streamed. Only the outermost fields of a document are looked at."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from podium.errors import RawDataError

_DOCUMENT, _ARRAY, _BINARY, _INT32, _INT64 = 0x03, 0x04, 0x05, 0x10, 0x12
_FIXED_SIZES = {0x01: 8, 0x07: 12, 0x08: 1, 0x09: 8, 0x0A: 0, _INT32: 4, 0x11: 8, _INT64: 8}
"""Sizes of numbers, identifiers, truth values, times and nothing."""
_BYTES_BESIDE_LENGTH = {0x02: 4, _DOCUMENT: 0, _ARRAY: 0, _BINARY: 5}
"""What a text, document, array or binary takes beyond the length it starts with."""


def read_documents(path: Path) -> Iterator[bytes]:
    """The documents of a file, one at a time."""
    try:
        with path.open("rb") as file:
            while head := file.read(4):
                size = int.from_bytes(head, "little")
                document = head + file.read(max(size - 4, 1))
                if len(document) != size:
                    raise RawDataError(f"{path} is damaged or cut off within a document. Download it again.")
                yield document
    except FileNotFoundError as error:
        raise RawDataError(f"The raw data lacks {path.name}: there is no {path}.") from error


def integer_field(document: bytes, name: str) -> int:
    """The value of a field that holds a whole number."""
    start, end = _find(document, name)
    return int.from_bytes(document[start + len(name) + 2 : end], "little", signed=True)


def without_field(document: bytes, name: str) -> bytes:
    """The document with one field less."""
    start, end = _find(document, name)
    return struct.pack("<i", len(document) - (end - start)) + document[4:start] + document[end:]


def make_document(fields: Mapping[str, Any]) -> bytes:
    """A document of whole numbers, bytes, lists and further documents."""
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
    """Where a field starts and where the next one does."""
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
        raise RawDataError(f"A BSON document has a field of kind 0x{kind:02x}, which is not expected.")
    return int.from_bytes(document[start : start + 4], "little") + _BYTES_BESIDE_LENGTH[kind]
