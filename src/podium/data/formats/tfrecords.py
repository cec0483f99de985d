"""TFRecord files of `tf.train.Example` records, read and written without TensorFlow.

A file is a row of frames: length, its checksum, record, its checksum. A record is a protobuf message that maps the
names of features to lists of values.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from podium.errors import RawDataError

# Numbers of fields, from the definition of tf.train.Example; what holds only one kind of thing numbers it 1.
_ONLY = 1
_NAME, _FEATURE = 1, 2
_BYTES, _FLOATS, _INTEGERS = 1, 2, 3
# How a field is laid out; the lowest three bits of its tag.
_VARINT, _SIZED = 0, 2
_FIXED_SIZES = {1: 8, 5: 4}
_BLOCK = 512


def read_records(path: Path) -> Iterator[bytes]:
    """The records of a file, one at a time. Checksums are not compared: that would take longer than reading."""
    try:
        with path.open("rb") as file:
            while head := file.read(12):
                size = int.from_bytes(head[:8], "little")
                frame = file.read(size + 4)
                if len(frame) < size + 4:
                    raise RawDataError(f"{path} is cut off within a record. Download it again.")
                yield frame[:size]
    except FileNotFoundError as error:
        raise RawDataError(f"The raw data lacks {path.name}: there is no {path}.") from error


def write_records(path: Path, records: Iterable[bytes]) -> None:
    """Writes records into a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for record in records:
            size = struct.pack("<Q", len(record))
            file.write(size + _checksum(size) + record + _checksum(record))


def make_record(**features: bytes | str | int) -> bytes:
    """A record with one value per feature."""
    return _record(_sized(_NAME, name.encode()) + _sized(_FEATURE, _list(value)) for name, value in features.items())


def first_bytes(record: bytes, name: str) -> bytes:
    """The first value of a feature that holds bytes or text."""
    for entry in _entries(record):
        if _find(entry, _NAME) == name.encode():
            return _find(_find(_find(entry, _FEATURE), _BYTES), _ONLY)
    raise RawDataError(f"A record has no feature '{name}'.")


def features_of(record: bytes) -> dict[str, list[bytes | int | float]]:
    """All features of a record with their values."""
    found: dict[str, list[bytes | int | float]] = {}
    for entry in _entries(record):
        kind, content = next(iter(_fields(_find(entry, _FEATURE))), (_BYTES, b""))
        found[_find(entry, _NAME).decode("utf-8", "replace")] = list(_values(kind, content))
    return found


def _values(kind: int, content: bytes) -> Iterator[bytes | int | float]:
    if kind == _BYTES:
        yield from (value for _, value in _fields(content))
        return
    packed = b"".join(value for _, value in _fields(content))
    if kind == _FLOATS:
        yield from (float(value) for value in np.frombuffer(packed[: len(packed) // 4 * 4], "<f4"))
        return
    place = 0
    while place < len(packed):
        value, place = _read_varint(packed, place)
        yield value


def keep_features(record: bytes, names: Collection[str]) -> bytes:
    """The record without any other feature."""
    return _record(entry for entry in _entries(record) if _find(entry, _NAME).decode() in names)


def texts_of(paths: Iterable[Path], name: str) -> set[str]:
    """What a feature that holds one text says, in all records of some files."""
    return {first_bytes(record, name).decode() for path in paths for record in read_records(path)}


def keep_only(path: Path, names: Collection[str]) -> None:
    """Writes a file anew whose records have no other feature; what it was linked to stays as it is."""
    linked = path.rename(path.with_suffix(".linked"))
    write_records(path, (keep_features(record, names) for record in read_records(linked)))
    linked.unlink()


def _entries(record: bytes) -> Iterator[bytes]:
    """The pairs of name and feature in a record."""
    return (content for _, content in _fields(_find(record, _ONLY)))


def _record(entries: Iterable[bytes]) -> bytes:
    return _sized(_ONLY, b"".join(_sized(_ONLY, entry) for entry in entries))


def _list(value: bytes | str | int) -> bytes:
    if isinstance(value, int):
        return _sized(_INTEGERS, _sized(_ONLY, _varint(value)))
    return _sized(_BYTES, _sized(_ONLY, value.encode() if isinstance(value, str) else value))


def _find(message: bytes, number: int) -> bytes:
    """The content of the first field with a number."""
    for found, content in _fields(message):
        if found == number:
            return content
    raise RawDataError(f"A record has no field {number} where one is expected: is it a tf.train.Example?")


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Number and content of the fields of a message that have a size of their own; the others are passed over."""
    place = 0
    while place < len(message):
        tag, place = _read_varint(message, place)
        if tag & 7 == _VARINT:
            _, place = _read_varint(message, place)
        elif tag & 7 == _SIZED:
            size, place = _read_varint(message, place)
            yield tag >> 3, message[place : place + size]
            place += size
        else:
            place += _FIXED_SIZES[tag & 7]


def _read_varint(message: bytes, place: int) -> tuple[int, int]:
    """A number of seven bits per byte, the lowest first, and where it ends."""
    value = shift = 0
    while message[place] & 128:
        value |= (message[place] & 127) << shift
        shift, place = shift + 7, place + 1
    return value | message[place] << shift, place + 1


def _sized(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _SIZED) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])


def _checksum(content: bytes) -> bytes:
    """CRC-32C, rotated and moved as TensorFlow wants it.

    What a byte adds depends on how many bytes follow it, and on nothing else, so that blocks are summed up at once.
    """
    tables = _crc_tables()
    first, start = tables[0].tolist(), len(content) % _BLOCK
    crc = 0xFFFFFFFF
    for byte in content[:start]:
        crc = first[(crc ^ byte) & 0xFF] ^ crc >> 8
    blocks = np.frombuffer(content, np.uint8, offset=start).reshape(-1, _BLOCK)
    sums = np.bitwise_xor.reduce(tables[np.arange(_BLOCK)[::-1], blocks], axis=1)
    carry = tables[-1:-5:-1].tolist()
    for added in sums.tolist():
        for table, byte in zip(carry, crc.to_bytes(4, "little"), strict=True):
            added ^= table[byte]
        crc = added
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


@cache
def _crc_tables() -> NDArray[np.uint32]:
    """What each byte adds to the sum, in a row for each number of bytes that follow within a block."""
    tables = np.zeros((_BLOCK, 256), np.uint32)
    tables[0] = np.arange(256)
    for _ in range(8):
        tables[0] = tables[0] >> 1 ^ np.where(tables[0] & 1, np.uint32(0x82F63B78), np.uint32(0))
    for row in range(1, _BLOCK):
        tables[row] = tables[0][tables[row - 1] & 0xFF] ^ tables[row - 1] >> 8
    return tables
