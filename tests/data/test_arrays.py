from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from podium.data.arrays import read_array, write_array
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
