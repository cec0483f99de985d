"""Scripts that agents wrote: highlighted, and compared with the script they were made from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal, NamedTuple

from markupsafe import Markup

from podium.viewer.shown_text import Clip, clip

COMPARED_LINES = 1_500
"""Longer scripts are not compared: the time that takes grows with the square of the length."""
CONTEXT_LINES = 3


class CodeLine(NamedTuple):
    kind: Literal["same", "added", "removed", "left out"]
    number: int | None
    """In the newer script; None for a line that is only in the older one."""
    code: Markup


@dataclass(frozen=True)
class HighlightedCode:
    """A script as a page shows it: highlighted lines, and how much of it they are."""

    lines: list[Markup]
    clip: Clip


@dataclass(frozen=True)
class ScriptChanges:
    """What distinguishes a script from an older one."""

    lines: list[CodeLine]
    added: int
    removed: int


def show_code(text: str) -> HighlightedCode:
    """A Python script, as much of it as a page shows."""
    cut = clip(text)
    return HighlightedCode(list(highlight(cut.text.removesuffix("\n"))), cut)


@lru_cache(maxsize=64)
def highlight(text: str) -> tuple[Markup, ...]:
    """The lines of a Python script as HTML: everything is escaped, words have classes."""
    from pygments import highlight as convert
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    formatter = HtmlFormatter(nowrap=True)
    html = convert(text, PythonLexer(stripnl=False, ensurenl=False), formatter)
    return tuple(Markup(line) for line in html.split("\n")[: text.count("\n") + 1])


def compare_scripts(older: str, newer: str) -> ScriptChanges | None:
    """What changed from one script to another, line by line; None if they are too long to be compared."""
    before, after = (clip(text.removesuffix("\n")) for text in (older, newer))
    texts = before.text.split("\n"), after.text.split("\n")
    if not (before.is_whole and after.is_whole) or max(map(len, texts)) > COMPARED_LINES:
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
        yield CodeLine("left out", None, Markup(f"{count:,} line{'s' * (count > 1)} as before"))
