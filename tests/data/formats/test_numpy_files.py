from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from podium.data.formats.numpy_files import parse_array, read_array, write_array
from podium.errors import RawDataError


def test_an_array_comes_back_as_it_was(tmp_path: Path) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    write_array(array, tmp_path / "new" / "a.npy")
    found = read_array(tmp_path / "new" / "a.npy")
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, array)


def test_a_missing_array_is_explained(tmp_path: Path) -> None:
    with pytest.raises(RawDataError, match=r"lacks a\.npy"):
        read_array(tmp_path / "a.npy")


@pytest.mark.parametrize("array", [np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3).T, np.zeros(0, np.int64)])
def test_what_a_program_saved_is_read(array: np.ndarray) -> None:
    content = io.BytesIO()
    np.save(content, array)
    found = parse_array(content.getvalue())
    assert found is not None
    assert (found.tolist(), found.dtype) == (array.tolist(), array.dtype)


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        (b"'<f8'", b"(10**18,)"),
        (b"'<f8'", b"(1000000000000,)"),
        (b"'|O'", b"(1,)"),
        (b"7", b"()"),
        (b"'<i8'", b"(-1,)"),
    ],
)
def test_a_hostile_header_costs_nothing(kind: bytes, shape: bytes) -> None:
    header = b"\x93NUMPY\x01\x00v\x00{'descr': %s, 'fortran_order': False, 'shape': %s, }" % (kind, shape)
    found = parse_array(header.ljust(127) + b"\n" + bytes(8))
    assert found is None or found.size == 1


def test_no_pickle_is_opened(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return Path.touch, (tmp_path / "opened",)  # type: ignore[return-value]

    content = io.BytesIO()
    np.save(content, np.array([Trap()], dtype=object), allow_pickle=True)
    assert parse_array(content.getvalue()) is None
    assert not (tmp_path / "opened").exists()
