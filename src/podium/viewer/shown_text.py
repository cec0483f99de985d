"""Text that agents wrote, made visible and short. The templates escape it for HTML."""

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
"""How much of a text a page shows; the whole of it can be downloaded."""
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
"""How characters are shown that would be invisible, or would reorder the text around them."""


def visible(text: str) -> str:
    """A text without the escape sequences of terminals and without invisible characters.

    What a progress bar writes over itself becomes line after line.
    """
    return _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n").translate(_SHOWN_AS)


def name(text: str) -> str:
    """The name of a file, which may hold anything but a slash, on one line."""
    return visible("".join(f"⟨{ord(letter):02X}⟩" if letter in "\r\n\t\x1b" else letter for letter in text))


@dataclass(frozen=True)
class Clip:
    """As much of a text as a page shows."""

    text: str
    size: int
    """Of the whole, in whatever `unit` says."""
    unit: str = "characters"
    is_whole: bool = True


def clip(text: str, limit: int = SHOWN_CHARACTERS) -> Clip:
    """The beginning of a text."""
    return Clip(visible(text[:limit]), len(text), is_whole=len(text) <= limit)


def clip_bytes(data: bytes, size_bytes: int, limit: int = SHOWN_CHARACTERS) -> Clip:
    """The beginning of a text of which the first bytes are known."""
    text = data.decode("utf-8", "replace")
    return Clip(visible(text[:limit]), size_bytes, "bytes", is_whole=size_bytes <= len(data) and len(text) <= limit)


def short(text: str, limit: int = SHORT_CHARACTERS) -> str:
    """A text as one line for a table."""
    # Far more than is shown is cut first, so that a line of megabytes costs nothing.
    line = " ".join(visible(text[: 8 * limit]).split())
    return line if len(line) <= limit and len(text) <= 8 * limit else line[: limit - 1].rstrip() + "…"


def mark_words(text: str, words: Sequence[str]) -> Markup:
    """A text in which some words are marked, wherever they occur in it."""
    shown = visible(text)
    if not words:
        return escape(shown)
    parts = re.split("(" + "|".join(map(re.escape, words)) + ")", shown, flags=re.IGNORECASE)
    marked = [
        Markup("<mark>{}</mark>").format(part) if number % 2 else escape(part) for number, part in enumerate(parts)
    ]
    return Markup("").join(marked)


def as_text(value: Any) -> str:
    """An argument of an action as text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1, default=str)


def looks_binary(data: bytes) -> bool:
    """Whether content is not text."""
    return b"\0" in data[:8192]


def size_in_words(size_bytes: int | None) -> str:
    """A size for people, if it is known."""
    return "unknown" if size_bytes is None else format_size(size_bytes)


def duration_in_words(seconds: float | None) -> str:
    """A duration for people, if it is known; the journal of a stranger may say that something took infinitely long."""
    if seconds is None:
        return ""
    return format_duration(seconds) if math.isfinite(seconds) else f"{seconds} s"


def number_in_words(value: float | str | None) -> str:
    """A score or count for people."""
    if value is None:
        return ""
    if isinstance(value, str):
        return visible(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.5g}"
