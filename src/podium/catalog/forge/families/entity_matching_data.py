"""Entity matching: draws things, two registers of them, and pairs of records that could be the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.closed_form import distinct_numbers
from podium.catalog.forge.family import ForgedData, PublicData
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.brief import ID_AND_TARGET, OPENINGS, TASKS, DictionaryLine, Story, say, write_brief
from podium.catalog.forge.world.corruption import misspelt, recorded_values
from podium.catalog.forge.world.file_layout import draw_layout
from podium.catalog.forge.world.vocabulary import place_name

THINGS: Mapping[Difficulty, tuple[int, int]] = {
    "easy": (850, 950), "medium": (750, 850), "hard": (650, 750), "tiny": (46, 50),
}  # fmt: skip
MISJUDGED: Mapping[Difficulty, float] = {"easy": 0.02, "medium": 0.04, "hard": 0.07, "tiny": 0.02}
ERRORS: Mapping[Difficulty, float] = {"easy": 1.7, "medium": 2.5, "hard": 3.2, "tiny": 4.0}
"""Rate of errors in the second register."""
CANDIDATES = 4
"""Pairs per record of the first register."""
WRONG = (
    "Clerks of {place} judged about {share:.0%} of all pairs wrongly, in train and test alike.",
    "Of the judgements that {organisation} collected, {share:.0%} are wrong everywhere.",
    "People in {place} make mistakes: {share:.0%} of the judgements are not right.",
)


def draw_once(rng: np.random.Generator, difficulty: Difficulty, story: Story) -> ForgedData:
    """Draw entities, two registers of them, and pairs of records that could be the same."""
    count = int(rng.integers(*THINGS[difficulty]))
    registers, columns = _registers(rng, story, count, ERRORS[difficulty])
    pairs = _pairs(rng, registers[0], count)
    same = pairs["one"].to_numpy() == pairs["other"].to_numpy()
    judged = same ^ (rng.random(len(pairs)) < MISJUDGED[difficulty])
    table = pd.DataFrame({story.id: [f"P{number:06d}" for number in distinct_numbers(rng, 900_000, len(pairs))]})
    for side, register in zip(("one", "other"), registers, strict=True):
        table[register.columns[0]] = register.iloc[:, 0].to_numpy()[pairs[side]]
    layout = draw_layout(rng, story.naming.file(story.place, "registers"))
    many = story.domain.parents[0].many
    names = [layout.path(story.naming.file(*words)) for words in ((many,), (story.place, many))]
    shuffled = [register.iloc[rng.permutation(count)].reset_index(drop=True) for register in registers]
    is_train = (rng.random(count) < 0.6)[pairs["one"]]
    train, test = (table[part].reset_index(drop=True) for part in (is_train, ~is_train))
    told = judged.astype(int)
    answers = test[[story.id]].assign(**{story.target: told[~is_train]})
    return ForgedData(
        brief=_tell(rng, story, dict(zip(names, columns, strict=True)), table, difficulty, len(test)),
        public=PublicData(
            train.assign(**{story.target: told[is_train]}), test, dict(zip(names, shuffled, strict=True))
        ),
        answers=answers,
        sample=answers.assign(**{story.target: 1}),
        ceiling=same[~is_train].astype(int),
    )


def _tell(
    rng: np.random.Generator,
    story: Story,
    registers: Mapping[str, list[tuple[str, str]]],
    table: pd.DataFrame,
    difficulty: Difficulty,
    test_count: int,
) -> str:
    asked = f"whether both records mean the same {story.domain.parents[0].one}"
    figures = {"count": len(table), "test": test_count, "days": int(rng.integers(100, 900))}
    words = {**story.words("pairs of records", asked), **figures, "share": MISJUDGED[difficulty]}
    meanings = ("identifier", "a record", "a record")
    main = [DictionaryLine("train, test", str(name), meaning) for name, meaning in zip(table, meanings, strict=True)]
    described = [DictionaryLine(name, *column) for name, columns in registers.items() for column in columns]
    return write_brief(
        rng,
        story,
        opening=(say(rng, OPENINGS, **words), say(rng, TASKS, **words)),
        files=[(name, "one register") for name in registers],
        columns=[*main, *described, DictionaryLine("train", story.target, "1: both mean the same")],
        notes=[say(rng, WRONG, **words)],
        metric="The F1 of the pairs that match.\nHigher is better.",
        form=story.named(f"{ID_AND_TARGET}\n`{{target}}` is 0 or 1."),
    )


def _registers(
    rng: np.random.Generator, story: Story, count: int, errors: float
) -> tuple[list[pd.DataFrame], list[list[tuple[str, str]]]]:
    """Return the same entities twice, the second time with the errors, codes and units of another office."""
    domain, noun = story.domain, story.domain.parents[0]
    towns = np.array([place_name(rng) for _ in range(8)])
    stems = np.array([place_name(rng) for _ in range(max(6, count // 12))])
    name = [
        f"{rng.choice(stems)} {rng.choice(['old', 'new', 'upper', 'lower', 'east', 'west'])} {noun.one}"
        for _ in range(count)
    ]
    category, values = list(domain.categories.items())[int(rng.integers(len(domain.categories)))]
    kind = rng.integers(0, len(values), count)
    facts = {quantity: rng.normal(size=count) for quantity in domain.parent_numbers[0]}
    town = rng.integers(0, len(towns), count)
    sides, columns = [], []
    for damaged in (False, True):
        key = story.naming.key(noun.one)
        codes = [f"{'QR'[damaged]}{number:05d}" for number in distinct_numbers(rng, 90_000, count)]
        side: dict[str, tuple[Sequence[object] | np.ndarray, str]] = {key: (codes, f"the {noun.one}")}
        names = misspelt(rng, name, 0.12 * errors) if damaged else name
        side[story.naming.text(f"{noun.one} name")] = (names, "its name")
        places = [text[:4] for text in towns[town]] if damaged else list(towns[town])
        side[story.naming.text(f"{noun.one} {domain.region}")] = (
            misspelt(rng, places, 0.05 * errors * damaged),
            "where it lies",
        )
        labels = np.array([f"{value[:2]}{len(value)}" if damaged else value for value in values], dtype=object)
        side[story.naming.text(category)] = (labels[kind], category)
        for position, (quantity, fact) in enumerate(facts.items()):
            noisy = recorded_values(quantity, fact + 0.25 * errors * damaged * rng.normal(size=count))
            other_unit = damaged and position == 0  # which column is not documented
            shown = noisy * (3.2808 if other_unit else 1)
            blank = rng.random(count) < min(0.5, 0.25 * errors) * damaged
            column = story.naming.number(replace(quantity, unit="") if other_unit else quantity)
            side[column] = (np.where(blank, np.nan, shown.round(3)), quantity.name)
        sides.append(pd.DataFrame({column: cells for column, (cells, _) in side.items()}))
        columns.append([(column, meaning) for column, (_, meaning) in side.items()])
    return sides, columns


def _pairs(rng: np.random.Generator, first: pd.DataFrame, count: int) -> pd.DataFrame:
    """Return, for most records, the true match and some similar records of the same region or name, shuffled."""
    words = [first[column].str.split().str[0] for column in first.columns[1:3]]
    groups = [first.groupby(word).indices for word in words]
    found = []
    for thing in range(count):
        resembling = [group[word[thing]] for group, word in zip(groups, words, strict=True)]
        others = rng.permutation(np.setdiff1d(np.concatenate([*resembling, rng.integers(0, count, 6)]), [thing]))
        own = [thing] if rng.random() < 0.8 else []
        found += [(thing, int(other)) for other in [*own, *others][:CANDIDATES]]
    return pd.DataFrame(found, columns=["one", "other"]).iloc[rng.permutation(len(found))].reset_index(drop=True)
