from __future__ import annotations

from pathlib import Path

import pytest

from podium.data.formats.tfrecords import (
    first_bytes,
    keep_features,
    keep_only,
    make_record,
    read_records,
    texts_of,
    write_records,
)
from podium.errors import RawDataError

LONG = bytes(range(256)) * 3
RECORDS = [make_record(image=LONG, image_name="a.jpg", target=3), make_record(image=b"", image_name="é", target=300)]


def test_records_come_back(tmp_path: Path) -> None:
    write_records(tmp_path / "x.tfrec", RECORDS)
    assert list(read_records(tmp_path / "x.tfrec")) == RECORDS
    assert [first_bytes(record, "image") for record in RECORDS] == [LONG, b""]
    assert [first_bytes(record, "image_name").decode() for record in RECORDS] == ["a.jpg", "é"]


def test_record_has_the_protobuf_layout() -> None:
    feature = b"\x0a\x01x\x12\x05\x1a\x03\x0a\x01\x07"  # name x; a feature with a list of integers: 7
    assert make_record(x=7) == b"\x0a\x0c\x0a\x0a" + feature


def slow_crc(content: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


@pytest.mark.parametrize("content", [b"", b"123456789", LONG[:512], LONG, LONG * 4 + b"end"])
def test_frames_carry_tensorflow_checksums(tmp_path: Path, content: bytes) -> None:
    assert slow_crc(b"123456789") == 0xE3069283  # the published one
    write_records(tmp_path / "x.tfrec", [content])
    crc = slow_crc(content)
    masked = ((crc >> 15 | crc << 17) & 0xFFFFFFFF) + 0xA282EAD8 & 0xFFFFFFFF
    assert (tmp_path / "x.tfrec").read_bytes()[-4:] == masked.to_bytes(4, "little")


def test_features_can_be_left_out() -> None:
    shown = keep_features(RECORDS[0], {"image", "image_name"})
    assert shown == make_record(image=LONG, image_name="a.jpg")


def test_a_file_is_stripped_without_touching_what_it_is_linked_to(tmp_path: Path) -> None:
    write_records(tmp_path / "raw.tfrec", RECORDS[:1])
    (tmp_path / "public.tfrec").hardlink_to(tmp_path / "raw.tfrec")
    keep_only(tmp_path / "public.tfrec", {"image_name"})
    assert list(read_records(tmp_path / "public.tfrec")) == [make_record(image_name="a.jpg")]
    assert list(read_records(tmp_path / "raw.tfrec")) == RECORDS[:1]
    assert texts_of(tmp_path.glob("*.tfrec"), "image_name") == {"a.jpg"}


def test_other_kinds_of_fields_are_passed_over() -> None:
    others = b"\x08\x96\x01" + b"\x11" + bytes(8) + b"\x1d" + bytes(4)
    assert first_bytes(others + RECORDS[0], "image_name") == b"a.jpg"


def test_a_missing_feature_is_named() -> None:
    with pytest.raises(RawDataError, match="no feature 'width'"):
        first_bytes(RECORDS[0], "width")
    with pytest.raises(RawDataError, match=r"is not a valid tf\.train\.Example"):
        first_bytes(b"", "width")


def test_a_damaged_or_missing_file_is_explained(tmp_path: Path) -> None:
    write_records(tmp_path / "x.tfrec", RECORDS)
    (tmp_path / "x.tfrec").write_bytes((tmp_path / "x.tfrec").read_bytes()[:-1])
    with pytest.raises(RawDataError, match="truncated"):
        list(read_records(tmp_path / "x.tfrec"))
    with pytest.raises(RawDataError, match=r"lacks y\.tfrec"):
        next(read_records(tmp_path / "y.tfrec"))
