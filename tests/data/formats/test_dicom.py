from __future__ import annotations

import struct

import numpy as np

from podium.data.formats.dicom import dicom

PIXEL_DATA = (0x7FE0, 0x0010)


def read_elements(content: bytes) -> dict[tuple[int, int], bytes]:
    """A reader by the book: part 5 of the standard, explicit value representation, little endian."""
    assert content[:132] == bytes(128) + b"DICM"
    elements, place = {}, 132
    while place < len(content):
        group, element, kind, size = struct.unpack_from("<HH2sH", content, place)
        place += 8
        if kind == b"OW":
            (size,) = struct.unpack_from("<I", content, place)
            place += 4
        assert size % 2 == 0
        assert (group, element) > max(elements, default=(0, 0))
        elements[group, element] = content[place : place + size]
        place += size
    assert place == len(content)
    return elements


def test_a_scan_can_be_read_back() -> None:
    pixels = np.arange(15).reshape(3, 5) * 5000
    elements = read_elements(dicom(pixels))
    height, width = (int.from_bytes(elements[0x0028, place], "little") for place in (0x0010, 0x0011))
    found = np.frombuffer(elements[PIXEL_DATA], "<u2").reshape(height, width)
    assert (found == np.clip(pixels, 0, 65535)).all()


def test_header_contains_its_length() -> None:
    content = dicom([[1]])
    elements = read_elements(content)
    head_end = 132 + 12 + int.from_bytes(elements[0x0002, 0x0000], "little")
    assert content[head_end : head_end + 2] == b"\x28\x00"
