"""Edge prediction: find the unrecorded links of a network.

Links depend on kinds that suit one another, on how near some numbers are, on hidden traits and on popularity.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.closed_form import distinct_numbers
from podium.catalog.forge.entrants.field_mix import ladder_entrants
from podium.catalog.forge.entrants.generic_entrants import Goal
from podium.catalog.forge.entrants.table_readings import Reading, read
from podium.catalog.forge.family import ForgedData, PublicData
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.assemble_family import world_family
from podium.catalog.forge.world.brief import ID_AND_TARGET, OPENINGS, TASKS, DictionaryLine, Story, say, write_brief
from podium.catalog.forge.world.corruption import recorded_values
from podium.catalog.forge.world.expressions import SHAPES, standardised
from podium.catalog.forge.world.file_layout import draw_layout
from podium.metrics import roc_auc
from podium.task import Columns, Number

THINGS: Mapping[Difficulty, tuple[int, int]] = {
    "easy": (380, 420), "medium": (320, 360), "hard": (260, 300), "tiny": (44, 48),
}  # fmt: skip
PAIRS: Mapping[Difficulty, int] = {"easy": 4000, "medium": 3600, "hard": 3000, "tiny": 180}
STEEPNESS: Mapping[Difficulty, float] = {"easy": 1.8, "medium": 1.4, "hard": 1.1, "tiny": 1.8}
LINKS_EACH = 18
KNOWN_SHARE = 0.6
HIDDEN_TRAITS = 3
TOLD = (
    "About {share:.0%} of all links in {place} are written down; of the others, some are asked for.",
    "The list of links that {organisation} keeps has gaps: {share:.0%} are on it.",
    "No link of {place} in `train.csv` or `test.csv` is on the list of links.",
)


def draw_once(rng: np.random.Generator, difficulty: Difficulty, story: Story) -> ForgedData:
    """Draw entities with facts and traits, their links, and the known part of the links."""
    count = int(rng.integers(*THINGS[difficulty]))
    table, meanings, logit = _things(rng, story, count)
    one, other = np.triu_indices(count, 1)
    drawn = STEEPNESS[difficulty] * (logit[one, other] - np.quantile(logit, 1 - LINKS_EACH / count))
    chance = 1 / (1 + np.exp(-drawn))
    linked = rng.random(len(one)) < chance
    known = linked & (rng.random(len(one)) < KNOWN_SHARE)
    asked = _asked(rng, linked, known, PAIRS[difficulty])
    sides = np.where(rng.random(len(asked)) < 0.5, (one[asked], other[asked]), (other[asked], one[asked]))
    names = table.iloc[:, 0].to_numpy()
    ends = [story.naming.key(f"{word} {story.domain.parents[0].one}") for word in ("from", "to")]
    pairs = pd.DataFrame({story.id: [f"L{number:06d}" for number in distinct_numbers(rng, 900_000, len(asked))]})
    pairs[ends] = names[sides].T
    links = pd.DataFrame(names[np.stack([one[known], other[known]], axis=1)], columns=ends)
    cut = len(asked) // 2
    target = linked[asked].astype(int)
    layout = draw_layout(rng, story.naming.file(story.place, "network"))
    files = [
        layout.path(story.naming.file(*words)) for words in ((story.domain.parents[0].many,), (story.place, "links"))
    ]
    test = pairs[cut:].reset_index(drop=True)
    answers = test[[story.id]].assign(**{story.target: target[cut:]})
    return ForgedData(
        brief=_tell(
            rng, story, dict(zip(files, (meanings, dict.fromkeys(ends, "one end")), strict=True)), pairs, len(test)
        ),
        public=PublicData(
            pairs[:cut].assign(**{story.target: target[:cut]}), test, dict(zip(files, (table, links), strict=True))
        ),
        answers=answers,
        sample=answers.assign(**{story.target: 0.5}),
        ceiling=chance[asked][cut:],
    )


def _things(rng: np.random.Generator, story: Story, count: int) -> tuple[pd.DataFrame, dict[str, str], np.ndarray]:
    """Return a table of entities, its data dictionary, and the affinity of each pair."""
    domain, noun = story.domain, story.domain.parents[0]
    key = story.naming.key(noun.one)
    table = pd.DataFrame({key: [f"N{number:05d}" for number in distinct_numbers(rng, 90_000, count)]})
    meanings = {key: f"the {noun.one}"}
    traits = rng.normal(size=(count, HIDDEN_TRAITS))
    popularity = rng.normal(size=count)
    logit = standardised(traits @ traits.T) + 0.5 * (popularity[:, None] + popularity[None, :])
    for name, values in domain.categories.items():
        kind = rng.integers(0, len(values), count)
        suits = rng.normal(size=(len(values), len(values)))
        logit += rng.uniform(0.2, 0.7) * (suits + suits.T)[kind[:, None], kind[None, :]]
        column = story.naming.text(name)
        table[column], meanings[column] = np.array(values, dtype=object)[kind], name
    for quantity in domain.parent_numbers[0]:
        fact = standardised(0.7 * traits[:, int(rng.integers(HIDDEN_TRAITS))] + rng.normal(size=count))
        shape = SHAPES[str(rng.choice(list(SHAPES)))]
        logit += rng.uniform(0.3, 0.8) * rng.choice([-1, 1]) * standardised(shape(rng, np.abs(fact[:, None] - fact)))
        column = story.naming.number(quantity)
        table[column], meanings[column] = recorded_values(quantity, fact), f"{quantity.name} [{quantity.unit}]"
    return table, meanings, logit


def _asked(rng: np.random.Generator, linked: np.ndarray, known: np.ndarray, most: int) -> np.ndarray:
    """Return the unlisted links and as many pairs without a link, shuffled."""
    unknown, apart = (rng.permutation(np.flatnonzero(which)) for which in (linked & ~known, ~linked))
    count = min(len(unknown), len(apart), most // 2)
    return rng.permutation(np.concatenate([unknown[:count], apart[:count]]))


def _tell(
    rng: np.random.Generator,
    story: Story,
    tables: Mapping[str, Mapping[str, str]],
    pairs: pd.DataFrame,
    test_count: int,
) -> str:
    many = story.domain.parents[0].many
    figures = {"count": len(pairs), "test": test_count, "days": int(rng.integers(100, 900)), "share": KNOWN_SHARE}
    words = {**story.words(f"pairs of {many}", "the probability that both are linked"), **figures}
    meanings = ("identifier", "one end", "one end")
    main = [DictionaryLine("train, test", str(name), meaning) for name, meaning in zip(pairs, meanings, strict=True)]
    described = [DictionaryLine(file, *column) for file, columns in tables.items() for column in columns.items()]
    return write_brief(
        rng,
        story,
        opening=(say(rng, OPENINGS, **words), say(rng, TASKS, **words)),
        files=list(zip(tables, (many, "links that are known"), strict=True)),
        columns=[*main, *described, DictionaryLine("train", story.target, "1: they are linked")],
        notes=[say(rng, TOLD, **words)],
        metric="The area under the ROC curve.\nHigher is better.",
        form=story.named(f"{ID_AND_TARGET}\nValues lie between 0 and 1."),
    )


def side_by_side(data: PublicData) -> Reading:
    """Return the features of both ends."""
    pairs = pd.concat([data.train, data.test], ignore_index=True).iloc[:, 1:3]
    things = next(iter(data.tables.values()))
    facts = [things.set_index(things.columns[0]).loc[pairs[end]].reset_index(drop=True) for end in pairs]
    return Reading(pd.concat([facts[0].add_suffix(" 1"), facts[1].add_suffix(" 2")], axis=1), len(data.train))


def _network(data: PublicData) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the known links as a matrix, and the numbers of both ends of each pair."""
    things, links = data.tables.values()
    number = pd.Series(np.arange(len(things)), index=things.iloc[:, 0])
    ends = [number[links[end]].to_numpy() for end in links]
    matrix = np.zeros((len(things), len(things)))
    matrix[ends[0], ends[1]] = matrix[ends[1], ends[0]] = 1
    pairs = pd.concat([data.train, data.test]).iloc[:, 1:3]
    return matrix, number[pairs.iloc[:, 0]].to_numpy(), number[pairs.iloc[:, 1]].to_numpy()


def compared(data: PublicData) -> Reading:
    """Return the differences between the two ends and the number of links of each."""
    found = read(data, side_by_side)
    half = found.both.shape[1] // 2
    facts = {}
    for column in range(half):
        one, other = found.both.iloc[:, column], found.both.iloc[:, half + column]
        is_number = pd.api.types.is_numeric_dtype(one)
        facts[f"apart {column}"] = (one - other).abs() if is_number else (one == other) * 1.0
    matrix, one_end, other_end = _network(data)
    degree = matrix.sum(axis=0)
    facts |= {
        "fewer links": np.minimum(degree[one_end], degree[other_end]),
        "links": degree[one_end] + degree[other_end],
    }
    return found.with_columns(facts)


def neighbourhood(data: PublicData) -> Reading:
    """Add the common neighbours of both ends."""
    found = read(data, compared)
    matrix, one, other = _network(data)
    degree = matrix.sum(axis=0)
    common = (matrix @ matrix)[one, other]
    rare = (matrix / np.log(degree + 2)) @ matrix
    facts = {"common": common, "rare": rare[one, other], "paths": (matrix @ matrix @ matrix)[one, other]}
    facts["share"] = common / np.maximum(degree[one] + degree[other] - common, 1)
    return found.with_columns(facts)


def positions(data: PublicData) -> Reading:
    """Add the spectral positions of both ends and the link rates between their categories."""
    found = read(data, neighbourhood)
    matrix, one, other = _network(data)
    facts = {}
    values, vectors = np.linalg.eigh(matrix - matrix.mean())
    order = np.argsort(-np.abs(values))
    for rank in (3, 6, 12):
        best = order[:rank]
        facts[f"near {rank}"] = ((vectors[one][:, best] * values[best]) * vectors[other][:, best]).sum(axis=1)
    things = next(iter(data.tables.values()))
    for column in things.columns[1:]:
        if not pd.api.types.is_numeric_dtype(things[column]):
            kinds = pd.get_dummies(things[column], dtype=float).to_numpy()
            rates = (kinds.T @ matrix @ kinds + 1) / (np.outer(kinds.sum(axis=0), kinds.sum(axis=0)) + 20)
            facts[f"rate {column}"] = (kinds[one] @ rates * kinds[other]).sum(axis=1)
    return found.with_columns(facts)


goal = Goal(finish=lambda prediction, target: np.clip(prediction, 0, 1))
family = world_family(
    "edge-prediction",
    "Who is linked?",
    "edge prediction",
    metric=roc_auc,
    submission=Columns(id="id", target="target", values=Number(0, 1)),
    draw_once=draw_once,
    entrants=ladder_entrants(goal, raw=side_by_side, plain=compared, good=neighbourhood, expert=positions),
    row="{parent} pair",
)
