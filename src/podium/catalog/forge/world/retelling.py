"""Retellings: a task drawn in a family's own words is published in those of a drawn story, with the same numbers.

A family declares what each of its columns and files can be called, what it means, and what else a brief has to say, in
sentences that name something drawn wherever they have more than eight words. Entrants of the field know the family's
own words, so they work on the data as it was drawn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pandas as pd

from podium.catalog.forge.family import ForgedData, PublicData, relabelled
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.brief import OPENINGS, TASKS, DictionaryLine, Story, draw_story, say, write_brief
from podium.catalog.forge.world.vocabulary import ANSWERS, SYLLABLES, TIMES, Quantity, place_name
from podium.task import Columns, Text

TIME_NAMES = "|".join(f"{{row}} {name}" for name in TIMES)
ANSWER_NAMES = "|".join(f"{{row}} {name}" for name in ANSWERS)
UNDATED = tuple(opening for opening in OPENINGS if "{days}" not in opening)
"""Openings for data whose span in days is not known before it is drawn."""
FIVE_LABELS = "`{label0}`, `{label1}`, `{label2}`, `{label3}` and `{label4}`"
CURRENCIES = ("EUR", "CHF", "GBP", "USD", "SEK", "PLN", "CZK")
MASSES = {"kg": 1.0, "lb": 2.20462}
VOLUMES = {"l": 1.0, "gal": 0.264172, "dm³": 1.0}
MONEY = {"{currency}": 1.0}
NAMES = 20
"""Invented names that a story has for groups and labels."""
SIGNIFICANT = 5
"""Digits that are kept of a number in another unit."""

DrawOwn = Callable[[np.random.Generator, Difficulty], ForgedData]
BriefFigures = Callable[[Difficulty], Mapping[str, object]]


@dataclass(frozen=True)
class OwnColumn:
    """A column that a family draws, and how stories tell it."""

    own: str
    """Its name in the family's own words; `reading_#` stands for all that differ by a number."""
    names: str
    """Names to choose from, separated by bars, with words to choose from separated by slashes; may contain nouns of the
    story, such as `{row} code/mark|date of entry`.
    """
    meaning: str
    kind: Literal["text", "number", "key"] = "text"
    units: Mapping[str, float] = field(default_factory=dict)
    """Units it can be told in, and what a number is multiplied with for each."""
    values: Mapping[str, str] = field(default_factory=dict)
    """Its values in the family's own words that stories tell, and what they become, such as `{label0}`."""
    inside: Mapping[str, str] = field(default_factory=dict)
    """The same for single words of its texts; also where two letters of them are swapped."""
    file: str = "train, test"
    """File that has the column; `{pools_csv}` stands for the published name of `pools.csv`."""


@dataclass(frozen=True)
class OwnFile:
    """A file, or a folder whose name ends with a slash, that a family draws, and how stories tell it."""

    own: str
    names: str
    content: str


@dataclass(frozen=True)
class Retelling:
    """Texts of a family in the words of a story."""

    asked: str
    columns: tuple[OwnColumn, ...]
    metric: str
    form: str
    notes: tuple[str, ...]
    files: tuple[OwnFile, ...] = ()
    rows: str = "{rows}"
    """Noun for the rows to predict, in the plural."""
    nouns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Further words and what they can be; that of `tool: (boiler|boilers, ...)` is `{tool}`, many are `{tools}`."""
    pools: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Further words of which each is used once: those of `kind: (new, old, ...)` are `{kind0}`, `{kind1}` and so on."""
    opening: tuple[Sequence[str], ...] = (OPENINGS, TASKS)
    facts: BriefFigures = lambda difficulty: {}
    """Figures of the brief that depend on the difficulty; `days` is what the data spans."""

    def drawn(self, draw_own: DrawOwn) -> Callable[[np.random.Generator, Difficulty, int], ForgedData]:
        """Return a function that draws a task and tells it in the words of a story."""
        return lambda rng, difficulty, words: Telling(self, words).retold(draw_own(rng, difficulty), difficulty)

    def form_of(self, submission: Columns) -> Callable[[int], Columns]:
        """The form of submissions in some words, given that in the family's own ones."""
        return lambda words: Telling(self, words).form(submission)


class Telling:
    """One task's words: what everything that a family draws is called in its story."""

    def __init__(self, retelling: Retelling, words: int) -> None:
        self._rng = np.random.default_rng(words)
        self._retelling = retelling
        self._story = _with_longer_place(draw_story(self._rng), self._rng)
        self.words = self._nouns()
        self.names: dict[str, str] = {}
        """Names of columns; those that differ by a number are a stem with `#`."""
        self.values: dict[str, dict[str, str]] = {}
        self._units: dict[str, str] = {}
        self._scales: dict[str, float] = {}
        self._inside: dict[str, dict[str, str]] = {}
        for column in retelling.columns:
            self._name(column)
        self.paths = {file.own: self._path(file) for file in retelling.files}
        self.words |= {name: told for name, told in self.names.items() if "#" not in name}
        self.words |= {re.sub(r"\W", "_", own): told for own, told in self.paths.items()}

    def _nouns(self) -> dict[str, str]:
        domain, rng = self._story.domain, self._rng
        parent, other = (domain.parents[index] for index in rng.permutation(2))
        nouns = {"row": domain.row, "parent": parent, "other": other, "record": domain.record}
        words = {name: noun.one for name, noun in nouns.items()} | {f"{k}s": noun.many for k, noun in nouns.items()}
        words |= {"place": self._story.place, "region": domain.region, "event": domain.event}
        words |= {"currency": str(rng.choice(CURRENCIES))}
        words |= {"category": str(rng.choice(list(domain.categories)))}
        # More than are needed, since two can be equal and groups must stay apart.
        invented = list(dict.fromkeys(place_name(rng) for _ in range(2 * NAMES)))[:NAMES]
        pools = {"label": domain.labels, "name": invented, **self._retelling.pools}
        for name, pool in pools.items():
            words |= {f"{name}{number}": str(word) for number, word in enumerate(rng.permutation(list(pool)))}
        for name, choices in self._retelling.nouns.items():
            one, _, many = str(rng.choice(list(choices))).partition("|")
            words |= {name: one, f"{name}s": many}
        return words

    def _chosen(self, names: str) -> str:
        words = str(self._rng.choice(names.split("|"))).split()
        return " ".join(str(self._rng.choice(word.split("/"))) for word in words).format(**self.words)

    def _name(self, column: OwnColumn) -> None:
        naming, rng = self._story.naming, self._rng
        name = self._chosen(column.names)
        unit, scale = list((column.units or {"": 1.0}).items())[int(rng.integers(len(column.units) or 1))]
        unit = unit.format(**self.words)
        self._units[column.own], self._scales[column.own] = unit, scale
        self.values[column.own] = {own: told.format(**self.words) for own, told in column.values.items()}
        if column.inside:
            self._inside[column.own] = with_slips({o: t.format(**self.words) for o, t in column.inside.items()})
        if "#" in column.own:
            self.names[column.own] = naming.stem(name)
        elif column.kind == "key":
            self.names[column.own] = naming.key(name)
        elif column.kind == "number":
            self.names[column.own] = naming.number(Quantity(name, unit, 0, 0))
        else:
            self.names[column.own] = naming.text(name)

    def _path(self, file: OwnFile) -> str:
        name = self._story.naming.file(self._chosen(file.names))
        return name + ("/" if file.own.endswith("/") else file.own[file.own.index(".") :])

    def name(self, own: str) -> str:
        """Return the published name of a column; a target that is one of several values has the name of the value."""
        if own in self.names:
            return self.names[own]
        told = next((values[own] for values in self.values.values() if own in values), None)
        number = own.rpartition("_")[2]
        return told or self.names[f"{own.removesuffix(number)}#"].replace("#", number)

    def form(self, own: Columns) -> Columns:
        """The form of submissions."""
        ids, targets = (tuple(map(self.name, names)) for names in (own.ids, own.targets))
        form = replace(own, id=ids, target=targets)
        if not (isinstance(own.values, Text) and own.values.choices):
            return form
        return replace(form, values=replace(own.values, choices=tuple(map(self.name, own.values.choices))))

    def retold(self, own: ForgedData, difficulty: Difficulty) -> ForgedData:
        """The same task in the words of the story."""
        public, ids = own.public, len(own.sample.columns) - 1
        told = PublicData(
            train=self._table(public.train),
            test=self._table(public.test),
            tables={self.paths[path]: self._table(table) for path, table in public.tables.items()},
            payload={self._member(path): array for path, array in public.payload.items()},
        )
        labels = self.values.get(str(own.sample.columns[-1]), {}) if ids == 1 else {}
        sample = self._table(own.sample)
        submitted = {"id": str(sample.columns[0]), "target": str(sample.columns[-1])}
        return ForgedData(
            brief=self._brief(own, difficulty, submitted),
            public=told,
            answers=self._table(own.answers),
            sample=sample,
            ceiling=relabelled(own.ceiling, labels),
            own=public,
            labels=labels,
        )

    def _table(self, own: pd.DataFrame) -> pd.DataFrame:
        told = own.copy(deep=False)
        for name in own:
            values = self.values.get(str(name))
            if values:
                told[name] = own[name].map(values)
            elif str(name) in self._inside:
                told[name] = [_respelt(text, self._inside[str(name)]) for text in own[name]]
            elif self._scales.get(str(name), 1.0) != 1.0:
                told[name] = [float(f"{cell:.{SIGNIFICANT}g}") for cell in own[name] * self._scales[str(name)]]
        return told.set_axis([self.name(str(name)) for name in own], axis=1)

    def _member(self, path: str) -> str:
        folder, _, name = path.rpartition("/")
        return f"{self.paths[f'{folder}/']}{name}"

    def _brief(self, own: ForgedData, difficulty: Difficulty, submitted: dict[str, str]) -> str:
        retelling, rng, story = self._retelling, self._rng, self._story
        counted = {"count": len(own.public.train) + len(own.public.test), "test": len(own.public.test)}
        words = {**self.words, **counted, **retelling.facts(difficulty)}
        asked, rows = retelling.asked.format(**words), retelling.rows.format(**words)
        words |= story.words(rows, asked)
        columns = []
        for column in retelling.columns:
            name, numbers = self.names[column.own], _numbers(column.own, own.public)
            if numbers:
                name = "` … `".join(name.replace("#", str(end)) for end in dict.fromkeys((min(numbers), max(numbers))))
            unit = self._units[column.own]
            meaning = column.meaning.format(**words) + (f" [{unit}]" if unit else "")
            columns.append(DictionaryLine(column.file.format(**words), name, meaning))
        return write_brief(
            rng,
            story,
            opening=[say(rng, templates, **words) for templates in retelling.opening],
            files=[(self.paths[file.own], file.content.format(**words)) for file in retelling.files],
            columns=columns,
            notes=[say(rng, [note], **words) for note in retelling.notes],
            metric=retelling.metric.format(**words | submitted),
            form=retelling.form.format(**words | submitted),
            about=rows,
        )


def _with_longer_place(story: Story, rng: np.random.Generator) -> Story:
    """The story in a place of which there are 1.5 million: many sentences have no other word that is this task's."""
    place = f"{story.place}-{str(rng.choice(SYLLABLES)).capitalize()}"
    return replace(story, place=place, organisation=story.organisation.replace(story.place, place))


def _numbers(own: str, data: PublicData) -> list[int]:
    """The numbers by which columns differ that a name with `#` stands for."""
    names = [str(name) for table in (data.train, *data.tables.values()) for name in table]
    found = (re.fullmatch(re.escape(own).replace(r"\#", r"(\d+)"), name) for name in names)
    return [int(match[1]) for match in found if match and match.groups()]


def with_slips(words: Mapping[str, str]) -> dict[str, str]:
    """Words and what they become, and the same for every way to swap two neighbouring letters inside of them."""
    slips = {}
    for own, told in words.items():
        for at in range(1, len(own) - 2):
            slips[_swapped(own, at)] = _swapped(told, min(at, len(told) - 3))
    return slips | dict(words)


def _swapped(word: str, at: int) -> str:
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :] if 0 < at < len(word) - 1 else word


def _respelt(text: str, words: Mapping[str, str]) -> str:
    return re.sub(r"[A-Za-z]+", lambda match: words.get(match[0], match[0]), text)


def told_as(pool: str, own: Sequence[str]) -> dict[str, str]:
    """Values that become words of a pool: `{label0}`, `{label1}` and so on."""
    return {value: f"{{{pool}{number}}}" for number, value in enumerate(own)}
