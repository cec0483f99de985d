from __future__ import annotations

from pathlib import Path

import pytest

from podium.data.formats.bson import integer_field, make_document, read_documents, without_field
from podium.errors import RawDataError

PRODUCT = {"_id": 7, "category_id": 1000010653, "imgs": [{"picture": b"\xff\xd8\x00"}, {"picture": b""}]}
HIDDEN = {name: value for name, value in PRODUCT.items() if name != "category_id"}


def test_document_has_the_bson_layout() -> None:
    assert make_document({}) == b"\x05\x00\x00\x00\x00"
    assert make_document({"a": -2}) == b"\x0c\x00\x00\x00\x10a\x00\xfe\xff\xff\xff\x00"
    assert make_document({"a": b"xy"}) == b"\x0f\x00\x00\x00\x05a\x00\x02\x00\x00\x00\x00xy\x00"
    assert make_document({"a": [5]}) == b"\x14\x00\x00\x00\x04a\x00" + make_document({"0": 5}) + b"\x00"


def test_documents_are_streamed(tmp_path: Path) -> None:
    documents = [make_document(PRODUCT), make_document({}), make_document({"_id": 8})]
    (tmp_path / "x.bson").write_bytes(b"".join(documents))
    assert list(read_documents(tmp_path / "x.bson")) == documents


@pytest.mark.parametrize("name", PRODUCT)
def test_a_field_can_be_cut_out(name: str) -> None:
    rest = {other: value for other, value in PRODUCT.items() if other != name}
    assert without_field(make_document(PRODUCT), name) == make_document(rest)


def test_numbers_are_found_behind_any_other_field() -> None:
    others = {
        0x01: bytes(8),
        0x02: b"\x03\x00\x00\x00hi\x00",
        0x03: make_document({"_id": 1}),
        0x04: make_document({"0": 1}),
        0x05: b"\x02\x00\x00\x00\x00xy",
        0x07: bytes(12),
        0x08: b"\x01",
        0x09: bytes(8),
        0x0A: b"",
        0x11: bytes(8),
    }
    before = b"".join(bytes([kind]) + b"before\x00" + value for kind, value in others.items())
    number = b"\x12_id\x00" + (-(10**12)).to_bytes(8, "little", signed=True)
    content = before + number + b"\x00"
    assert integer_field((len(content) + 4).to_bytes(4, "little") + content, "_id") == -(10**12)


def test_what_is_not_there_or_not_known_is_named() -> None:
    with pytest.raises(RawDataError, match="no field 'category_id'"):
        without_field(make_document(HIDDEN), "category_id")
    with pytest.raises(RawDataError, match="type 0x0d"):
        integer_field(b"\x08\x00\x00\x00\x0da\x00\x00", "_id")


def test_a_damaged_or_missing_file_is_explained(tmp_path: Path) -> None:
    for content in (make_document(PRODUCT)[:-1], b"\0\0\0\0" + make_document(PRODUCT), b"\5\0"):
        (tmp_path / "x.bson").write_bytes(content)
        with pytest.raises(RawDataError, match="truncated"):
            list(read_documents(tmp_path / "x.bson"))
    with pytest.raises(RawDataError, match=r"lacks y\.bson"):
        next(read_documents(tmp_path / "y.bson"))
