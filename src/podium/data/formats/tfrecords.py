"""TFRecord files of `tf.train.Example` records, read and written without TensorFlow.

A file is a sequence of frames: length, checksum of the length, record, checksum of the record. A record is a protobuf
message that maps the names of features to lists of values.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from podium.errors import RawDataError
from podium.safefs.atomic_files import missing_raw_file

# Field numbers from the definition of tf.train.Example; messages with a single field number it 1.
_ONLY = 1
_NAME, _FEATURE = 1, 2
_BYTES, _FLOATS, _INTEGERS = 1, 2, 3
# Wire types of fields: the lowest three bits of the tag.
_VARINT, _SIZED = 0, 2
_FIXED_SIZES = {1: 8, 5: 4}
_BLOCK = 512


def read_records(path: Path) -> Iterator[bytes]:
    """Yield the records of a file, one at a time. Checksums are not verified, which would take longer than reading."""
    try:
        with path.open("rb") as file:
            while head := file.read(12):
                size = int.from_bytes(head[:8], "little")
                frame = file.read(size + 4)
                if len(frame) < size + 4:
                    raise RawDataError(f"{path} is truncated within a record. Download it again.")
                yield frame[:size]
    except FileNotFoundError as error:
        raise missing_raw_file(path) from error


def write_records(path: Path, records: Iterable[bytes]) -> None:
    """Write records into a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for record in records:
            size = struct.pack("<Q", len(record))
            file.write(size + _checksum(size) + record + _checksum(record))


def make_record(**features: bytes | str | int) -> bytes:
    """Return a record with one value per feature."""
    return _record(_sized(_NAME, name.encode()) + _sized(_FEATURE, _list(value)) for name, value in features.items())


def first_bytes(record: bytes, name: str) -> bytes:
    """Return the first value of a bytes feature."""
    for entry in _entries(record):
        if _find(entry, _NAME) == name.encode():
            return _find(_find(_find(entry, _FEATURE), _BYTES), _ONLY)
    raise RawDataError(f"A record has no feature '{name}'.")


def features_of(record: bytes) -> dict[str, list[bytes | int | float]]:
    """Return all features of a record with their values."""
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
    """Return the record with only these features."""
    return _record(entry for entry in _entries(record) if _find(entry, _NAME).decode() in names)


def texts_of(paths: Iterable[Path], name: str) -> set[str]:
    """Return the distinct values of a text feature in all records of some files."""
    return {first_bytes(record, name).decode() for path in paths for record in read_records(path)}


def keep_only(path: Path, names: Collection[str]) -> None:
    """Rewrite a file with only these features in its records; other hard links to it keep their content."""
    linked = path.rename(path.with_suffix(".linked"))
    write_records(path, (keep_features(record, names) for record in read_records(linked)))
    linked.unlink()


def _entries(record: bytes) -> Iterator[bytes]:
    """Return the pairs of name and feature in a record."""
    return (content for _, content in _fields(_find(record, _ONLY)))


def _record(entries: Iterable[bytes]) -> bytes:
    return _sized(_ONLY, b"".join(_sized(_ONLY, entry) for entry in entries))


def _list(value: bytes | str | int) -> bytes:
    if isinstance(value, int):
        return _sized(_INTEGERS, _sized(_ONLY, _varint(value)))
    return _sized(_BYTES, _sized(_ONLY, value.encode() if isinstance(value, str) else value))


def _find(message: bytes, number: int) -> bytes:
    """Return the content of the first field with a number."""
    for found, content in _fields(message):
        if found == number:
            return content
    raise RawDataError(f"A record is not a valid tf.train.Example: its field {number} is missing.")


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and content of the length-delimited fields of a message; other fields are skipped."""
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
    """Return a varint (seven bits per byte, lowest first) and the position after it."""
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
    """Return the CRC-32C of a content, masked as in the TFRecord format.

    The contribution of a byte depends only on the number of bytes after it, so whole blocks are summed with NumPy.
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
    """Return the contribution of each byte to the checksum, one row per number of following bytes in a block."""
    tables = np.zeros((_BLOCK, 256), np.uint32)
    tables[0] = np.arange(256)
    for _ in range(8):
        tables[0] = tables[0] >> 1 ^ np.where(tables[0] & 1, np.uint32(0x82F63B78), np.uint32(0))
    for row in range(1, _BLOCK):
        tables[row] = tables[0][tables[row - 1] & 0xFF] ^ tables[row - 1] >> 8
    return tables
