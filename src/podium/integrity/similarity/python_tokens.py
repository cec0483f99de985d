"""Normalised Python tokens, which survive renaming, reformatting and changed constants.

A single regular expression tokenises any text, even if Python rejects it: scripts of agents and public notebooks are
often truncated or broken.
"""

from __future__ import annotations

import builtins
import keyword
import re
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import numpy.typing as npt

MAX_CHARACTERS = 400_000
"""Largest number of characters of a document that are read."""
_MAX_STRING_CHARACTERS = 20_000
"""Characters of a string in three quotes: one that is never closed must not hide the rest of the document. A string
that ends without its quotes is one too: were it not, every quote of a hostile text would cost a search to its end.
"""
_KEPT = frozenset(keyword.kwlist) | frozenset(dir(builtins))
_TOKEN = re.compile(
    rf"""
    (?P<name>[^\W\d]\w*+(?!['"]))
    |(?P<comment>\#[^\n]*)
    |(?P<string>[rRbBuUfF]{{0,2}}(?:'''(?:(?!''')(?:\\.|[^\\])){{0,{_MAX_STRING_CHARACTERS}}}+(?:''')?
        |\"\"\"(?:(?!\"\"\")(?:\\.|[^\\])){{0,{_MAX_STRING_CHARACTERS}}}+(?:\"\"\")?
        |'(?:\\.|[^\\'\n])*+'?|"(?:\\.|[^\\"\n])*+"?))
    |(?P<number>\.?\d[\w.]*)
    |(?P<word>[^\W\d]\w*)
    |(?P<operator>\*\*=?|//=?|->|:=|[<>!=+\-*/%&|^@]=|<<|>>|[^\s\w])
    """,
    re.VERBOSE | re.DOTALL,
)
_MAX_INDENT = 200
"""Largest indentation in characters."""
_SILENT = frozenset(",;()\\")
"""Punctuation that a formatter adds and removes."""


@dataclass(frozen=True)
class CodeTokens:
    """Tokens of a document."""

    codes: npt.NDArray[np.uint64]
    """Number for each token: equal tokens have equal numbers."""
    lines: npt.NDArray[np.int64]
    """Line of each token, from 1."""


def tokenise(source: str) -> CodeTokens:
    """Return the tokens of Python source, without own names and the contents of strings and numbers."""
    source = source[:MAX_CHARACTERS]
    found = [
        ("name" if match.lastgroup == "word" else match.lastgroup or "", match.group(), match.start())
        for match in _TOKEN.finditer(source)
        if match.lastgroup != "comment" and match.group() not in _SILENT
    ]
    # Strings that are statements are comments.
    found = [token for token in found if token[0] != "string" or not _begins_line(source, token[2])]
    own = _own_names(found)
    words = [_normal(found, place, own) for place in range(len(found))]
    ends = np.array([match.start() for match in re.finditer("\n", source)], dtype=np.int64)
    starts = np.array([start for _, _, start in found], dtype=np.int64)
    return CodeTokens(
        np.array([crc32(word.encode("utf-8", "replace")) for word in words], dtype=np.uint64),
        np.searchsorted(ends, starts) + 1,
    )


_Found = list[tuple[str, str, int]]


def _begins_line(source: str, place: int) -> bool:
    before = source[max(0, place - _MAX_INDENT) : place]
    return not before.rpartition("\n")[2].strip()


def _own_names(found: _Found) -> set[str]:
    """Return the names of functions, classes and attributes that the document defines and so could rename."""
    own = set()
    for before, (kind, text, _), after in zip([("", "", 0), *found], found, [*found[1:], ("", "", 0)], strict=False):
        if kind == "name" and (before[1] in ("def", "class", "as") or (before[1] == "." and after[1] == "=")):
            own.add(text)
    return own


def _normal(found: _Found, place: int, own: set[str]) -> str:
    kind, text, _ = found[place]
    if kind in ("string", "number"):
        return kind
    if kind != "name" or text in _KEPT:
        return text
    is_attribute = place > 0 and found[place - 1][1] == "."
    return text if is_attribute and text not in own else "name"
