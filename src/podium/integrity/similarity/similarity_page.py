"""Page of similar scripts side by side, readable offline. The scripts are hostile input: Jinja escapes every
character.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from podium.errors import MissingExtraError
from podium.integrity.similarity.compare_scripts import Pair
from podium.text import printable

TEMPLATES = Path(__file__).parent.parent / "templates"
MAX_PAIRS = 50
MAX_LINES = 3_000
_COLOURS = 6


class _Line(NamedTuple):
    number: int
    text: str
    passage: int | None
    """Number of the passage it belongs to, from 1; None if it belongs to none."""


def render_pairs(pairs: Sequence[Pair], title: str) -> str:
    """Return the page with at most MAX_PAIRS of the most similar pairs.

    Raises:
        MissingExtraError: if Jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise MissingExtraError("The page of similar scripts", "report") from error
    loader = FileSystemLoader(TEMPLATES)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    shown = [
        (pair, *(_lines(each.source, pair, side) for side, each in enumerate((pair.left, pair.right))))
        for pair in pairs[:MAX_PAIRS]
    ]
    return environment.get_template("similarity.html").render(
        title=printable(title), shown=shown, total=len(pairs), colours=range(_COLOURS), clean=printable
    )


def _lines(source: str, pair: Pair, side: int) -> list[_Line]:
    passages = [range(passage[side][0], passage[side][1] + 1) for passage in pair.passages]
    of_line = {line: number for number, lines in enumerate(passages, 1) for line in lines}
    lines = enumerate(source.splitlines()[:MAX_LINES], 1)
    return [_Line(number, printable(text), of_line.get(number)) for number, text in lines]
