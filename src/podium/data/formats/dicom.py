"""Minimal DICOM files (medical scans) for miniatures."""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import ArrayLike

_EXPLICIT_LITTLE_ENDIAN = b"1.2.840.10008.1.2.1\0"


def dicom(pixels: ArrayLike) -> bytes:
    """Return the bytes of a .dcm file with one grey image of 16 bits per pixel; values are clipped to that range."""
    picture = np.clip(pixels, 0, 65535).astype("<u2")
    height, width = picture.shape
    syntax = _element(0x0002, 0x0010, b"UI", _EXPLICIT_LITTLE_ENDIAN)
    elements = [
        _element(0x0002, 0x0000, b"UL", struct.pack("<I", len(syntax))),
        syntax,
        _number(0x0028, 0x0002, 1),  # samples per pixel
        _element(0x0028, 0x0004, b"CS", b"MONOCHROME2 "),
        _number(0x0028, 0x0010, height),
        _number(0x0028, 0x0011, width),
        _number(0x0028, 0x0100, 16),  # bits per pixel: allocated, stored, and the index of the highest
        _number(0x0028, 0x0101, 16),
        _number(0x0028, 0x0102, 15),
        _number(0x0028, 0x0103, 0),  # unsigned
        struct.pack("<HH2sHI", 0x7FE0, 0x0010, b"OW", 0, picture.nbytes) + picture.tobytes(),
    ]
    return bytes(128) + b"DICM" + b"".join(elements)


def _number(group: int, element: int, value: int) -> bytes:
    return _element(group, element, b"US", struct.pack("<H", value))


def _element(group: int, element: int, kind: bytes, content: bytes) -> bytes:
    """Return a data element; the size of its content must be even."""
    return struct.pack("<HH2sH", group, element, kind, len(content)) + content
