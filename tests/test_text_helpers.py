"""Durations, sizes and counts."""

from __future__ import annotations

import doctest

import pytest

from podium import text as text_module
from podium.text import format_duration, format_size, parse_duration, parse_size, plural


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (1.25, "1.2 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (61, "1 min 1 s"),
        (3599.4, "59 min 59 s"),
        (3599.6, "1 h"),
        (7500, "2 h 5 min"),
        (24 * 3600, "24 h"),
        (4_000_000, "1,111 h 7 min"),
    ],
)
def test_a_duration_has_at_most_two_units(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (1, "1 byte"),
        (1023, "1,023 bytes"),
        (1024, "1 KiB"),
        ((1 << 20) - 1, "1 MiB"),
        (3 << 29, "1.5 GiB"),
        (1 << 50, "1,024 TiB"),
    ],
)
def test_a_size_has_the_unit_that_fits(size_bytes: int, text: str) -> None:
    assert format_size(size_bytes) == text


def test_doctests() -> None:
    assert doctest.testmod(text_module) == (0, 9)


def test_plural() -> None:
    assert [plural(number, "run") for number in (0, 1, 2)] == ["0 runs", "1 run", "2 runs"]


def test_durations_are_read_with_and_without_units() -> None:
    assert [parse_duration(text) for text in ("5", "90s", " 30 M", "24h", ".5d")] == [5, 90, 1800, 86400, 43200]


@pytest.mark.parametrize("text", ["", "5x", "h", "1.2.3s", ".", "-5s", "nan"])
def test_invalid_duration_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=f"invalid duration '{text}'"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["", "5", "8X", "G", "1.2.3G", "-1G"])
def test_what_is_not_a_size_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=f"invalid size '{text}'"):
        parse_size(text)
