"""Single table with columns named by a story, for families with additional files or a structure of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.closed_form import distinct_numbers
from podium.catalog.forge.family import ForgedData, PublicData
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.brief import MIXED, OPENINGS, TASKS, DictionaryLine, Story, say, write_brief
from podium.catalog.forge.world.corruption import recorded_values

MAIN = "train, test"
Sizes = Mapping[Difficulty, tuple[int, int]]
"""Number of train and of test rows, or groups of rows, by difficulty."""


@dataclass
class Sheet:
    """Columns of a task and their descriptions in a brief."""

    story: Story
    table: pd.DataFrame
    columns: list[DictionaryLine] = field(default_factory=list)

    def add(self, name: str, values: np.ndarray, meaning: str) -> None:
        """Add a column."""
        self.table[name] = values
        self.columns.append(DictionaryLine(MAIN, name, meaning))


def draw_sheet(rng: np.random.Generator, story: Story, count: int) -> Sheet:
    """Draw rows with nothing but an identifier."""
    letters = story.domain.row.one[: int(rng.integers(1, 3))].upper()
    ids = [f"{letters}{number:06d}" for number in distinct_numbers(rng, 900_000, count)]
    return Sheet(story, pd.DataFrame({story.id: ids}), [DictionaryLine(MAIN, story.id, "identifier")])


def add_numbers(rng: np.random.Generator, sheet: Sheet, facts: np.ndarray) -> None:
    """Record columns of facts with mean 0 and standard deviation 1 as quantities of the domain."""
    domain = sheet.story.domain
    known = [*domain.numbers, *(quantity for quantities in domain.parent_numbers for quantity in quantities)]
    chosen = [known[index] for index in rng.permutation(len(known))[: facts.shape[1]]]
    for quantity, fact in zip(chosen, facts.T, strict=True):
        name = sheet.story.naming.number(quantity)
        sheet.add(name, recorded_values(quantity, fact), f"{quantity.name} [{quantity.unit}]")


def add_categories(rng: np.random.Generator, sheet: Sheet) -> None:
    """Record every kind of category of the domain."""
    for name, values in sheet.story.domain.categories.items():
        codes = rng.choice(len(values), len(sheet.table), p=rng.dirichlet(np.full(len(values), 3.0)))
        sheet.add(sheet.story.naming.text(name), np.array(values, dtype=object)[codes], name)


@dataclass(frozen=True)
class SheetQuestion:
    """Question of a family about the rows of a sheet, in the words of its briefs."""

    rows: str
    """Noun for a row, in the plural."""
    asked: str
    meaning: str
    """Meaning of the target, for the data dictionary."""
    metric: str
    form: str
    """Format string with the placeholders `{id}` and `{target}` for the names of these columns."""
    notes: Sequence[str]
    """Sentences to be filled in with the words of the story and with `figures`."""
    split: Sequence[str] = MIXED
    """Sentences to choose from, about the split into train and test."""
    files: Sequence[tuple[str, str]] = ()
    figures: Mapping[str, object] = field(default_factory=dict)


def sheet_task(
    rng: np.random.Generator,
    sheet: Sheet,
    question: SheetQuestion,
    *,
    target: np.ndarray,
    ceiling: np.ndarray,
    sample: float | str | np.ndarray,
    train_rows: int,
    tables: Mapping[str, pd.DataFrame] | None = None,
    payload: Mapping[str, np.ndarray] | None = None,
) -> ForgedData:
    """Return the competition: the first rows are train, the others test."""
    story = sheet.story
    known = sheet.table[:train_rows].assign(**{story.target: target[:train_rows]})
    test = sheet.table[train_rows:].reset_index(drop=True)
    answers = test[[story.id]].assign(**{story.target: target[train_rows:]})
    sheet.columns.append(DictionaryLine("train", story.target, question.meaning))
    return ForgedData(
        brief=_tell(rng, sheet, question, len(test)),
        public=PublicData(known, test, tables or {}, payload or {}),
        answers=answers,
        sample=answers.assign(**{story.target: sample}),
        ceiling=ceiling[train_rows:],
    )


def _tell(rng: np.random.Generator, sheet: Sheet, question: SheetQuestion, test: int) -> str:
    figures = {"count": len(sheet.table), "test": test, "days": int(rng.integers(100, 900)), **question.figures}
    words = {**sheet.story.words(question.rows, question.asked), **figures}
    return write_brief(
        rng,
        sheet.story,
        opening=(say(rng, OPENINGS, **words), say(rng, TASKS, **words)),
        files=question.files,
        columns=sheet.columns,
        notes=[*(say(rng, [note], **words) for note in question.notes), say(rng, question.split, **words)],
        metric=question.metric,
        form=sheet.story.named(question.form),
    )
