"""Vocabulary of a task: a domain, and a naming style for columns and files.

Two tasks rarely share a column: a name is a thing or quantity of the domain with one of many words before or after
it, in one of several styles of writing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

DOMAINS = Path(__file__).with_name("domains.toml")
NUMBER_WORDS = (
    "measured", "recorded", "estimated", "initial", "latest", "reported", "usual", "nominal", "verified", "planned",
    "smoothed", "typical", "corrected", "declared", "rounded", "assumed", "audited", "previous", "adjusted",
    "certified", "agreed", "expected", "indicated", "registered", "observed", "calculated", "averaged", "calibrated",
    "current", "approximate", "logged", "noted", "stated", "sampled", "filtered", "revised", "final", "read", "derived",
    "entered", "posted", "quoted", "charted", "tallied", "assessed", "gauged", "metered", "documented", "validated",
    "tabulated", "inspected", "attested", "apparent", "actual", "provisional", "confirmed", "booked", "submitted",
    "computed", "inferred", "monitored", "surveyed", "checked", "given", "listed", "known", "specified", "guessed",
    "notional", "customary", "prior", "recent", "interim", "signed", "approved", "returned", "captured", "transcribed",
    "copied", "normal", "advised", "presumed",
)  # fmt: skip
TEXT_WORDS = (
    "noted", "main", "stated", "listed", "first", "assigned", "official", "actual", "entered", "original", "known",
    "local", "common", "marked", "filed", "given", "chosen", "current", "default", "usual", "reported", "declared",
    "registered", "primary", "observed", "recorded", "confirmed", "final", "general", "applied", "booked", "coded",
    "tagged", "preferred", "standard", "agreed", "checked", "intended", "nominal", "requested", "supposed", "present",
    "former", "principal", "formal", "logged", "accepted", "claimed",
)  # fmt: skip
KEYS = (
    "id", "code", "no", "ref", "key", "number", "tag", "symbol", "label", "handle", "serial", "index", "mark",
    "identifier", "reference", "nr",
)  # fmt: skip
ANSWERS = (
    "outcome", "result", "answer", "verdict", "finding", "response", "truth", "conclusion", "assessment", "resolution",
    "decision", "ruling", "judgement", "upshot", "solution", "end value", "actual value", "known value",
    "reference value", "observed value", "ground truth", "determination", "settled value", "appraisal",
)  # fmt: skip
"""Names of the column to predict."""
TIMES = (
    "date", "day", "moment", "timestamp", "when", "logged at", "entry date", "clock time", "occurred", "recorded on",
    "began", "stamp", "filed at", "point in time", "calendar entry", "observed at",
)  # fmt: skip
REMARKS = (
    "remark", "note", "comment", "memo", "observation", "free text", "annotation", "log entry", "notes", "details",
    "description", "message", "jotting", "said", "addendum", "wording",
)  # fmt: skip
PICTURES = (
    "picture", "photo", "image", "shot", "frame", "snapshot", "still", "scan", "view", "picture file", "image path",
    "photo file", "capture", "camera file", "plate", "exposure file",
)  # fmt: skip
SYLLABLES = (
    "ar", "bel", "cor", "dun", "el", "fen", "gar", "hol", "is", "ker", "lam", "mor", "nor", "os", "pel", "quin", "ab",
    "bran", "cal", "dor", "en", "fal", "gil", "hav", "il", "jor", "kin", "lor", "mal", "ned", "ol", "pen", "rad", "sel",
    "tam", "ul", "ver", "wes", "yar", "zan",
)  # fmt: skip
ENDINGS = (
    "by", "den", "field", "gate", "ham", "ley", "mere", "stad", "ton", "vale", "wick", "wood", "beck", "bridge",
    "combe", "cote", "dale", "ford", "haven", "holm", "minster", "mouth", "stow", "worth",
)  # fmt: skip


@dataclass(frozen=True)
class Quantity:
    """Something that is measured, with its unit and the range of most values."""

    name: str
    unit: str
    low: float
    high: float


@dataclass(frozen=True)
class Noun:
    """Noun in the singular and the plural."""

    one: str
    many: str


@dataclass(frozen=True)
class Domain:
    """Subject area of a task."""

    name: str
    owner: str
    """Client that asks for the predictions."""
    row: Noun
    """Noun for a row of train and test."""
    parents: tuple[Noun, ...]
    """Nouns for the entities that rows belong to."""
    region: str
    record: Noun
    """Noun for the repeated measurements of a parent."""
    recorded: Quantity
    aims: tuple[str, ...]
    event: str
    amount: Quantity
    wait: str
    grade: str
    labels: tuple[str, ...]
    numbers: tuple[Quantity, ...]
    parent_numbers: tuple[tuple[Quantity, ...], ...]
    """Quantities of each kind of parent."""
    categories: Mapping[str, tuple[str, ...]]
    remarks: tuple[str, ...]


@cache
def domains() -> tuple[Domain, ...]:
    """Return all domains, in the order of the file."""
    tables = tomllib.loads(DOMAINS.read_text(encoding="utf-8"))
    return tuple(_domain(name, table) for name, table in tables.items())


def _domain(name: str, table: dict[str, Any]) -> Domain:
    one, many, recorded, unit = table.pop("record")
    above = tuple(_quantities(entries) for entries in table.pop("parent_numbers"))
    texts: dict[str, Any] = {key: tuple(table.pop(key)) for key in ("aims", "labels", "remarks")}
    return Domain(
        name,
        row=Noun(*table.pop("row")),
        parents=tuple(Noun(*names) for names in table.pop("parents")),
        record=Noun(one, many),
        recorded=Quantity(recorded, unit, 0, 10),
        amount=Quantity(*table.pop("amount")),
        categories={key: tuple(values) for key, values in table.pop("categories").items()},
        numbers=_quantities(table.pop("numbers")),
        parent_numbers=above,
        **texts,
        **table,
    )


def _quantities(entries: Sequence[Sequence[Any]]) -> tuple[Quantity, ...]:
    return tuple(Quantity(*entry) for entry in entries)


def place_name(rng: np.random.Generator) -> str:
    """Return an invented place name."""
    first, second = rng.choice(SYLLABLES, 2, replace=False)
    return f"{first}{second}{rng.choice(ENDINGS)}".capitalize()


Style = Callable[[list[str], str], str]
"""Function from words and a unit to the name of a column."""


def _letters(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def _with_unit(words: list[str], unit: str) -> str:
    return "_".join([*words, *_letters(unit)])


def _spoken(words: list[str], unit: str) -> str:
    return " ".join(words).capitalize() + (f" ({unit})" if unit else "")


def _camel(words: list[str], unit: str) -> str:
    return words[0] + "".join(word.capitalize() for word in words[1:])


def _short(words: list[str], unit: str) -> str:
    return "".join(re.sub(r"(?<!^)[aeiou]", "", word)[:4] for word in words)


STYLES: Mapping[str, Style] = {
    "snake": lambda words, unit: "_".join(words),
    "units": _with_unit,
    "camel": _camel,
    "pascal": lambda words, unit: "".join(word.capitalize() for word in words),
    "upper": lambda words, unit: "_".join(words).upper(),
    "kebab": lambda words, unit: "-".join(words),
    "dotted": lambda words, unit: ".".join(words),
    "spoken": _spoken,
    "short": _short,
}


class Naming:
    """One task's way of naming columns; no two of its columns have the same name."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.style = str(rng.choice(list(STYLES)))
        self._word_is_last = bool(rng.random() < 0.5)
        self._rng = rng
        self._taken: set[str] = set()

    def number(self, quantity: Quantity) -> str:
        """Return the name of a column of numbers: the quantity, and a word that does not change its meaning."""
        return self._column(self._with_word(quantity.name, NUMBER_WORDS), quantity.unit)

    def text(self, name: str) -> str:
        """Return the name of a column of texts or categories."""
        return self._column(self._with_word(name, TEXT_WORDS))

    def about(self, thing: str, names: Sequence[str]) -> str:
        """Return the name of a column about an entity with several names."""
        return self._column([*_letters(thing), *_letters(str(self._rng.choice(names)))])

    def key(self, name: str) -> str:
        """Return the name of a key column."""
        ending = str(self._rng.choice(KEYS))
        word = [str(self._rng.choice(TEXT_WORDS))] if self._rng.random() < 0.7 else []
        return self._column([*word, *_letters(name), ending])

    def stem(self, name: str) -> str:
        """Return the common name of numbered columns, with `#` in place of the number."""
        return self._column([*self._with_word(name, NUMBER_WORDS), "#"])

    def file(self, *words: str) -> str:
        """Return a file name without its extension; files are named as columns are, but never with blanks."""
        style = "snake" if self.style in {"spoken", "short", "dotted", "units"} else self.style
        return STYLES[style]([letter for word in words for letter in _letters(word)], "")

    def _with_word(self, name: str, words: Sequence[str]) -> list[str]:
        word = str(self._rng.choice(words))
        return [*_letters(name), word] if self._word_is_last else [word, *_letters(name)]

    def _column(self, words: list[str], unit: str = "") -> str:
        name = STYLES[self.style](words, unit)
        while name in self._taken:
            name += "2"
        self._taken.add(name)
        return name
