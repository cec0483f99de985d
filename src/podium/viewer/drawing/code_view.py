"""Syntax highlighting of scripts, and diffs against the script they were made from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal, NamedTuple

from markupsafe import Markup

from podium.viewer.shown_text import Clip, clip

MAX_DIFF_LINES = 1_500
"""Maximum length of scripts that are compared, as the time grows with the square of the length."""
CONTEXT_LINES = 3


class CodeLine(NamedTuple):
    kind: Literal["same", "added", "removed", "left out"]
    number: int | None
    """Line number in the newer script; None for a removed line."""
    code: Markup


@dataclass(frozen=True)
class HighlightedCode:
    """Highlighted lines of a script, possibly truncated."""

    lines: list[Markup]
    clip: Clip


@dataclass(frozen=True)
class ScriptChanges:
    """Diff between a script and an older one."""

    lines: list[CodeLine]
    added: int
    removed: int


def show_code(text: str) -> HighlightedCode:
    """Highlight a Python script, truncated to what a page shows."""
    cut = clip(text)
    return HighlightedCode(list(highlight(cut.text.removesuffix("\n"))), cut)


@lru_cache(maxsize=64)
def highlight(text: str) -> tuple[Markup, ...]:
    """Return the lines of a Python script as escaped HTML with a class for each token."""
    from pygments import highlight as convert
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    formatter = HtmlFormatter(nowrap=True)
    html = convert(text, PythonLexer(stripnl=False, ensurenl=False), formatter)
    return tuple(Markup(line) for line in html.split("\n")[: text.count("\n") + 1])


def compare_scripts(older: str, newer: str) -> ScriptChanges | None:
    """Return the line diff of two scripts, or None if they are too long to compare."""
    before, after = (clip(text.removesuffix("\n")) for text in (older, newer))
    texts = before.text.split("\n"), after.text.split("\n")
    if not (before.is_whole and after.is_whole) or max(map(len, texts)) > MAX_DIFF_LINES:
        return None
    lines = list(_changed_lines(SequenceMatcher(None, *texts), highlight(before.text), highlight(after.text)))
    return ScriptChanges(
        lines, sum(line.kind == "added" for line in lines), sum(line.kind == "removed" for line in lines)
    )


def _changed_lines(
    matcher: SequenceMatcher[str], older: Sequence[Markup], newer: Sequence[Markup]
) -> Iterator[CodeLine]:
    end = 0
    for group in matcher.get_grouped_opcodes(CONTEXT_LINES):
        yield from _left_out(group[0][3] - end)
        for tag, first, last, start, end in group:
            if tag == "equal":
                yield from (CodeLine("same", number + 1, newer[number]) for number in range(start, end))
            else:
                yield from (CodeLine("removed", None, code) for code in older[first:last])
                yield from (CodeLine("added", number + 1, newer[number]) for number in range(start, end))
    yield from _left_out(len(newer) - end)


def _left_out(count: int) -> Iterator[CodeLine]:
    if count:
        yield CodeLine("left out", None, Markup(f"{count:,} unchanged line{'s' * (count > 1)}"))
