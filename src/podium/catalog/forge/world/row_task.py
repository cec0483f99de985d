"""Tasks whose answers belong to rows of a table: everything but what is asked, which families add."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from podium.catalog.forge.family import ForgedData, PublicData
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.brief import (
    FORBIDDEN,
    LATER,
    MIXED,
    OPENINGS,
    REPEATED,
    TASKS,
    DictionaryLine,
    Story,
    say,
    write_brief,
)
from podium.catalog.forge.world.corruption import leaked, repeat_rows
from podium.catalog.forge.world.expressions import Facts, Term, standardised
from podium.catalog.forge.world.file_layout import draw_layout
from podium.catalog.forge.world.mechanism import Mechanism, draw_mechanism
from podium.catalog.forge.world.population import Population, draw_population
from podium.catalog.forge.world.recording import Recording, record
from podium.catalog.forge.world.vocabulary import Quantity

TRAIN_ROWS: Mapping[Difficulty, tuple[int, int]] = {
    "easy": (2600, 3200), "medium": (2000, 2600), "hard": (1500, 2000), "tiny": (100, 140),
}  # fmt: skip
TEST_ROWS: Mapping[Difficulty, tuple[int, int]] = {
    "easy": (1800, 2200), "medium": (1800, 2200), "hard": (1800, 2200), "tiny": (50, 60),
}  # fmt: skip
TERMS: Mapping[Difficulty, tuple[int, int]] = {"easy": (5, 8), "medium": (7, 11), "hard": (9, 14), "tiny": (4, 6)}
NOISE: Mapping[Difficulty, float] = {"easy": 0.35, "medium": 0.5, "hard": 0.7, "tiny": 0.3}
"""Standard deviation of the noise, relative to that of the signal."""

AFTERWARDS = ("settlement", "closing figure", "audit mark", "final tally", "review score", "balance", "debrief value")


@dataclass(frozen=True)
class World:
    """Material from which families make their outcomes."""

    story: Story
    population: Population
    difficulty: Difficulty

    @property
    def rows(self) -> int:
        return len(self.population.day)

    @property
    def noise(self) -> float:
        return NOISE[self.difficulty]

    def draw_mechanism(self, rng: np.random.Generator, *, hidden: Sequence[str] = ()) -> Mechanism:
        """Draw a mechanism over all true values, with terms for the named hidden ones, or for some of them."""
        population = self.population
        facts = Facts(population.everything(), population.groups(), population.day)
        told = [name for name, values in population.hidden.items() if values.any()]
        names = hidden or [told[index] for index in rng.permutation(len(told))[: int(rng.integers(2, 4))]]
        terms = int(rng.integers(*TERMS[self.difficulty]))
        always = tuple(Term(name, standardised(population.hidden[name])) for name in names)
        return draw_mechanism(rng, facts, terms=terms, always=always)


@dataclass(frozen=True)
class Outcome:
    """Target of every row and the best possible answer."""

    target: np.ndarray
    """Column that train has and test lacks."""
    ceiling: np.ndarray
    asked: str
    """Such as `the probability that the wine is sent back`."""
    sample: float | str | Mapping[str, float]
    """Constant prediction of the sample submission, for the target or for each column of `answers`."""
    meaning: str
    """Meaning of the target, for the data dictionary."""
    answers: pd.DataFrame | None = None
    """Graded columns, where they differ from the target."""
    order: np.ndarray | None = None
    """Number for each row that grows with the answer, for a leaked column."""


@dataclass(frozen=True)
class Form:
    """Short sentences of a family about its metric and its submissions."""

    metric: str
    submission: str
    """Format string with the placeholders `{id}` and `{target}` for the names of these columns."""


def amounts(quantity: Quantity, values: np.ndarray) -> np.ndarray:
    """Convert values of about mean 0 and standard deviation 1 to plausible amounts, never below zero."""
    return np.asarray(np.maximum(quantity.low + (quantity.high - quantity.low) * (values + 4) / 8, 0.0))


MakeOutcome = Callable[[np.random.Generator, World], Outcome]
Illustrate = Callable[[np.random.Generator, World, Recording], Mapping[str, np.ndarray]]
"""Function that adds a column of paths to the recorded data, and draws the pictures they lead to."""


def no_pictures(rng: np.random.Generator, world: World, recording: Recording) -> dict[str, np.ndarray]:
    """Return no pictures, as in most families."""
    return {}


def draw_row_task(
    rng: np.random.Generator,
    difficulty: Difficulty,
    story: Story,
    make_outcome: MakeOutcome,
    form: Form,
    illustrate: Illustrate,
) -> ForgedData:
    """Draw a population, its recorded data and the target, and split them into train and test."""
    train_count, test_count = (int(rng.integers(*bounds[difficulty])) for bounds in (TRAIN_ROWS, TEST_ROWS))
    count, days = train_count + test_count, int(rng.integers(150, 900))
    population = draw_population(rng, story.domain, count, days=days)
    layout = draw_layout(rng, story.naming.file(story.place, "data"))
    recording = record(rng, story, layout, population)
    world = World(story, population, difficulty)
    outcome, payload = make_outcome(rng, world), illustrate(rng, world, recording)
    forbidden = _leak(rng, story, recording, outcome)
    later = bool(rng.random() < 0.5)
    chosen = np.arange(count) if later else rng.permutation(count)
    train_rows, test_rows = np.sort(chosen[:train_count]), np.sort(chosen[train_count:])
    share = rng.uniform(0.02, 0.06)
    train = repeat_rows(rng, recording.rows.assign(**{story.target: outcome.target}).iloc[train_rows], share)
    test = recording.rows.iloc[test_rows].reset_index(drop=True)
    words = {"count": count, "test": test_count, "days": days, "share": share, "date": test.iloc[0, 1]}
    asked = pd.DataFrame({story.target: outcome.target}) if outcome.answers is None else outcome.answers
    answers = pd.concat([test[[story.id]], asked.iloc[test_rows].reset_index(drop=True)], axis=1)
    nothing = outcome.sample if isinstance(outcome.sample, Mapping) else {story.target: outcome.sample}
    return ForgedData(
        brief=_tell(rng, story, recording, outcome, form, later=later, figures=words),
        public=PublicData(train, test, recording.tables, payload, forbidden),
        answers=answers,
        sample=test[[story.id]].assign(**nothing),
        ceiling=outcome.ceiling[test_rows],
    )


def _tell(
    rng: np.random.Generator,
    story: Story,
    recording: Recording,
    outcome: Outcome,
    form: Form,
    *,
    later: bool,
    figures: Mapping[str, object],
) -> str:
    words = {**story.words(story.domain.row.many, outcome.asked), **figures}
    notes = [*recording.notes, say(rng, LATER if later else MIXED, **words), say(rng, REPEATED, **words)]
    return write_brief(
        rng,
        story,
        opening=(say(rng, OPENINGS, **words), say(rng, TASKS, **words)),
        files=recording.contents,
        columns=[*recording.columns, DictionaryLine("train", story.target, outcome.meaning)],
        notes=[str(note) for note in rng.permutation(notes)],
        metric=form.metric,
        form=story.named(form.submission),
    )


def _leak(rng: np.random.Generator, story: Story, recording: Recording, outcome: Outcome) -> tuple[str, ...]:
    """Add, in some tasks, a column that leaks the answer, and the rule that forbids its use."""
    if outcome.order is None or rng.random() > 0.3:
        return ()
    column = story.naming.about(story.domain.row.one, AFTERWARDS)
    recording.add(column, leaked(rng, outcome.order), "filled in afterwards")
    recording.notes.append(say(rng, FORBIDDEN, column=column, organisation=story.organisation, place=story.place))
    return (column,)
