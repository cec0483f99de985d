"""Sanitising and truncating of text written by agents. The templates escape it for HTML."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from podium.text import format_duration, format_size

SHOWN_CHARACTERS = 20_000
"""Maximum length of a text on a page; the full text can be downloaded."""
SHORT_CHARACTERS = 160

_ANSI = re.compile(
    r"\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]"  # colours, cursor movements
    r"|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links, and strings for terminals
    r"|[ -/]*[0-~])"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_INVISIBLE = "\u00ad\u200b\u2028\u2029\u2060\ufeff"
_SHOWN_AS: dict[int, str] = {
    **{code: f"⟨{code:02X}⟩" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"},
    **{ord(letter): f"⟨U+{ord(letter):04X}⟩" for letter in _DIRECTIONS + _INVISIBLE},
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}
"""Replacements for characters that are invisible or reorder the text around them."""


def visible(text: str) -> str:
    """Remove terminal escape sequences from a text and make invisible characters visible.

    Each update of a progress bar becomes a line of its own.
    """
    return _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n").translate(_SHOWN_AS)


def name(text: str) -> str:
    """Format a file name, which may contain anything but a slash, on one line."""
    return visible("".join(f"⟨{ord(letter):02X}⟩" if letter in "\r\n\t\x1b" else letter for letter in text))


@dataclass(frozen=True)
class Clip:
    """Beginning of a text, as long as a page may show."""

    text: str
    size: int
    """Size of the full text, in `unit`."""
    unit: str = "characters"
    is_whole: bool = True


def clip(text: str, limit: int = SHOWN_CHARACTERS) -> Clip:
    """Return the beginning of a text."""
    return Clip(visible(text[:limit]), len(text), is_whole=len(text) <= limit)


def clip_bytes(data: bytes, size_bytes: int, limit: int = SHOWN_CHARACTERS) -> Clip:
    """Return the beginning of a text, given its first bytes."""
    text = data.decode("utf-8", "replace")
    return Clip(visible(text[:limit]), size_bytes, "bytes", is_whole=size_bytes <= len(data) and len(text) <= limit)


def short(text: str, limit: int = SHORT_CHARACTERS) -> str:
    """Shorten a text to one line for a table."""
    # Cut first, so that a line of megabytes costs nothing.
    line = " ".join(visible(text[: 8 * limit]).split())
    return line if len(line) <= limit and len(text) <= 8 * limit else line[: limit - 1].rstrip() + "…"


def mark_words(text: str, words: Sequence[str]) -> Markup:
    """Return a text with every occurrence of some words marked."""
    shown = visible(text)
    if not words:
        return escape(shown)
    parts = re.split("(" + "|".join(map(re.escape, words)) + ")", shown, flags=re.IGNORECASE)
    marked = [
        Markup("<mark>{}</mark>").format(part) if number % 2 else escape(part) for number, part in enumerate(parts)
    ]
    return Markup("").join(marked)


def as_text(value: Any) -> str:
    """Format an argument of an action as text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1, default=str)


def looks_binary(data: bytes) -> bool:
    """Return whether content looks like binary data."""
    return b"\0" in data[:8192]


def size_in_words(size_bytes: int | None) -> str:
    """Format a size, "unknown" if it is None."""
    return "unknown" if size_bytes is None else format_size(size_bytes)


def duration_in_words(seconds: float | None) -> str:
    """Format a duration, "" if it is None; an untrusted journal may record an infinite one."""
    if seconds is None:
        return ""
    return format_duration(seconds) if math.isfinite(seconds) else f"{seconds} s"


def number_in_words(value: float | str | None) -> str:
    """Format a score or count, "" if it is None."""
    if value is None:
        return ""
    if isinstance(value, str):
        return visible(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.5g}"
