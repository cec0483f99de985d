"""Text helpers: durations, sizes and counts, and safe, bounded text for terminals and files."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

MAX_OBSERVATION_CHARACTERS = 20_000
"""Maximum length of a text in an observation."""
_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES = {"m": 1 << 20, "mb": 1 << 20, "g": 1 << 30, "gb": 1 << 30, "t": 1 << 40, "tb": 1 << 40}


def format_duration(seconds: float) -> str:
    """Return a duration in its two largest units.

    >>> [format_duration(seconds) for seconds in (0.25, 42, 80, 3600, 4800)]
    ['0.2 s', '42 s', '1 min 20 s', '1 h', '1 h 20 min']
    """
    if seconds < 9.95:
        return f"{seconds:.1f} s".replace(".0 ", " ")
    if round(seconds) < 3600:
        return _in_units(round(seconds), "min", "s")
    return _in_units(round(seconds / 60), "h", "min")


def _in_units(amount: int, large: str, small: str) -> str:
    quotient, rest = divmod(amount, 60)
    return " ".join(f"{number:,} {unit}" for number, unit in ((quotient, large), (rest, small)) if number)


def format_size(size_bytes: float) -> str:
    """Return a number of bytes with a suitable binary unit.

    >>> [format_size(size) for size in (0, 999, 1536, 8 << 30)]
    ['0 bytes', '999 bytes', '1.5 KiB', '8 GiB']
    """
    if size_bytes < 1024:
        return plural(round(size_bytes), "byte")
    size, (unit, *larger) = size_bytes / 1024, ("KiB", "MiB", "GiB", "TiB")
    while size >= 1023.95 and larger:
        size, (unit, *larger) = size / 1024, larger
    return f"{size:,.1f} {unit}".replace(".0 ", " ")


def printable(text: str, *, lines: bool = False) -> str:
    """Return untrusted text without terminal escape sequences and bidirectional control characters.

    Args:
        lines: True to keep line ends and tabs.

    >>> printable("red: \\x1b[31m"), printable("two\\nlines", lines=True)
    ('red: �[31m', 'two\\nlines')
    """
    kept = "\n\t" if lines else ""
    return "".join(letter if letter.isprintable() or letter in kept else "�" for letter in text)


def plural(number: int, noun: str) -> str:
    """Return a number with its noun in the singular or plural.

    >>> plural(1, "run"), plural(2500, "run")
    ('1 run', '2,500 runs')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def miniature_warning(miniatures: int, total: int) -> str | None:
    """Return the warning to print above results on fabricated data, or None if there are none.

    >>> miniature_warning(1, 1)
    'MINIATURE: fabricated data; scores and medals say nothing about the real task.'
    >>> miniature_warning(2, 9)
    'MINIATURE: 2 of 9 runs used fabricated data; their scores and medals say nothing about the real tasks.'
    """
    if not miniatures:
        return None
    if total == 1:
        return "MINIATURE: fabricated data; scores and medals say nothing about the real task."
    return (
        f"MINIATURE: {miniatures} of {total} runs used fabricated data; their scores and medals say nothing about the "
        "real tasks."
    )


def last_number(texts: Sequence[str]) -> float | None:
    """Return the last of some texts that is a finite number, or None.

    >>> last_number(["0.5", "0.7", "nan", "-"])
    0.7
    """
    for text in reversed(texts):
        try:
            value = float(text)
        except ValueError:
            continue
        if math.isfinite(value):
            return value
    return None


def printed_score(output: str, name: str) -> float | None:
    """Return the number in the last line of an output that reads `name: number` or `name = number`, or None."""
    return last_number(re.findall(rf"(?im)^\W*{re.escape(name)}\s*[:=]\s*([-+.\deE]+)\s*%?\s*$", output))


def parse_duration(text: str) -> float:
    """Parse a duration such as 90s, 30m, 24h or 2d into seconds; a bare number is seconds.

    >>> parse_duration("90"), parse_duration("1.5h")
    (90.0, 5400.0)

    Raises:
        ValueError: the text is not a positive duration.
    """
    seconds = _in_unit(text, _SECONDS)
    if seconds is None:
        raise ValueError(f"invalid duration '{text}'. Write 90s, 30m, 24h or 2d.")
    if not seconds:
        raise ValueError(f"invalid duration '{text}': it must be more than 0.")
    return seconds


def parse_size(text: str) -> int:
    """Parse a size such as 500M or 8G into bytes.

    >>> parse_size("500M"), parse_size("8 GB")
    (524288000, 8589934592)

    Raises:
        ValueError: the text is not a size.
    """
    size = _in_unit(text, _BYTES)
    if size is None:
        raise ValueError(f"invalid size '{text}'. Write 500M or 8G.")
    return int(size)


def _in_unit(text: str, units: Mapping[str, float]) -> float | None:
    """Parse a number with one of the units; return None for any other text."""
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)", text.strip().lower())
    return float(match[1]) * units[match[2]] if match and match[2] in units else None


def bounded(text: str, limit: int = MAX_OBSERVATION_CHARACTERS) -> str:
    """Return the text, or its beginning and end around a line that counts the omitted characters."""
    if len(text) <= limit:
        return text
    half = max(0, limit // 2 - 25)
    return f"{text[:half]}\n[... {len(text) - 2 * half:,} characters left out ...]\n{text[len(text) - half :]}"


def valid_unicode(value: Any) -> Any:
    """Return a JSON value without lone surrogates, which models emit and UTF-8 files cannot hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {valid_unicode(name): valid_unicode(part) for name, part in value.items()}
    return [valid_unicode(part) for part in value] if isinstance(value, list) else value
