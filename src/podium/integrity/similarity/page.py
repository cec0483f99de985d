"""Similar scripts side by side, as one page that opens offline. Strangers wrote them: Jinja escapes every letter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from podium.errors import MissingExtraError
from podium.integrity.similarity.compare import Pair
from podium.text import printable

TEMPLATES = Path(__file__).parent.parent / "templates"
MOST_PAIRS = 50
MOST_LINES = 3_000
_COLOURS = 6


@dataclass(frozen=True)
class _Line:
    number: int
    text: str
    passage: int | None
    """Number of the passage it belongs to, from 1."""

    @property
    def colour(self) -> int | None:
        return None if self.passage is None else self.passage % _COLOURS


def render_pairs(pairs: Sequence[Pair], title: str) -> str:
    """The page; of very many pairs the most similar ones.

    Raises:
        MissingExtraError: Jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise MissingExtraError("The page of similar scripts", "report") from error
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shown = [
        (
            pair,
            _lines(pair.left.source, [passage.left for passage in pair.passages]),
            _lines(pair.right.source, [passage.right for passage in pair.passages]),
        )
        for pair in pairs[:MOST_PAIRS]
    ]
    return environment.get_template("similarity.html").render(
        title=printable(title), shown=shown, total=len(pairs), colours=range(_COLOURS), clean=printable
    )


def _lines(source: str, passages: Sequence[tuple[int, int]]) -> list[_Line]:
    of_line = {line: number for number, (first, last) in enumerate(passages, 1) for line in range(first, last + 1)}
    return [
        _Line(number, printable(text), of_line.get(number))
        for number, text in enumerate(source.splitlines()[:MOST_LINES], 1)
    ]
