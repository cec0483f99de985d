"""Sequence labelling: which state is a thing in at each step, when states last for a while and things differ?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.field_mix import ladder_entrants
from podium.catalog.forge.entrants.generic_entrants import Goal
from podium.catalog.forge.entrants.table_readings import Reading, as_is, read
from podium.catalog.forge.family import ForgedData, PublicData
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.assemble_family import world_family
from podium.catalog.forge.world.brief import ID_AND_TARGET, Story
from podium.catalog.forge.world.sheet import SheetQuestion, Sizes, add_categories, add_numbers, draw_sheet, sheet_task
from podium.metrics import accuracy
from podium.task import Columns, Text

SEQUENCES: Sizes = {"easy": (48, 44), "medium": (40, 44), "hard": (34, 44), "tiny": (10, 5)}
STEPS: Mapping[Difficulty, int] = {"easy": 32, "medium": 30, "hard": 30, "tiny": 12}
APART: Mapping[Difficulty, float] = {"easy": 0.75, "medium": 0.6, "hard": 0.5, "tiny": 1.0}
"""Distance between the means of two states, in standard deviations of the noise."""
STEPS_CALLED = (
    "step", "position", "turn", "round", "tick", "stage", "place in order", "sequence", "rank", "slot", "count",
    "running number", "phase number", "interval", "period", "cycle",
)  # fmt: skip
NUMBERS = 7
LASTING = 0.88
NOTES = (
    "States last: in {place} the next step of a {thing} mostly has the state of the one before it.",
    "Every {thing} of {place} has levels of its own.",
)
SPLIT = (
    "No {thing} of {place} is in both `train.csv` and `test.csv`.",
    "In {place} every {thing} went to one of `train.csv` and `test.csv` as a whole.",
    "`test.csv` is about another {thing} of {place} each time, never about one of those in `train.csv`.",
)


def draw_once(rng: np.random.Generator, difficulty: Difficulty, story: Story) -> ForgedData:
    """Draw a chain of states for each thing, and numbers that depend on state and thing."""
    sequences, steps = sum(SEQUENCES[difficulty]), STEPS[difficulty]
    sheet = draw_sheet(rng, story, sequences * steps)
    labels = rng.permutation(story.domain.labels)[: int(rng.integers(3, 5))]
    moves = LASTING * np.eye(len(labels)) + (1 - LASTING) * rng.dirichlet(np.full(len(labels), 1.0), len(labels))
    states = _chains(rng, moves, sequences, steps)
    levels = APART[difficulty] * rng.normal(size=(len(labels), NUMBERS))
    noise = rng.normal(size=(sequences, steps, NUMBERS))
    offsets = 1.2 * rng.normal(size=(sequences, 1, NUMBERS))
    noun = story.domain.parents[0]
    which = np.repeat(rng.permutation(sequences), steps)
    codes = np.array([f"{noun.one[:2].upper()}{number:03d}" for number in rng.permutation(sequences)], dtype=object)
    sheet.add(story.naming.key(noun.one), codes[which], f"the {noun.one}")
    step = story.naming.about(noun.one, STEPS_CALLED)
    sheet.add(step, np.tile(np.arange(steps), sequences), "step")
    facts = (levels[states] + noise + offsets).reshape(-1, NUMBERS)
    add_numbers(rng, sheet, facts / facts.std(axis=0))
    add_categories(rng, sheet)
    question = SheetQuestion(
        rows=f"steps of {noun.many}",
        asked=f"the state, which is one of {', '.join(labels)}",
        meaning="the state",
        metric="The share of steps with the right state.",
        form=f"{ID_AND_TARGET}\n`{{target}}` names a state.",
        notes=NOTES,
        split=SPLIT,
        figures={"thing": noun.one},
    )
    return sheet_task(
        rng,
        sheet,
        question,
        target=labels[states].ravel(),
        ceiling=labels[_likeliest(moves, noise + levels[states], levels)].ravel(),
        sample=str(labels[0]),
        train_rows=SEQUENCES[difficulty][0] * steps,
    )


def _chains(rng: np.random.Generator, moves: np.ndarray, sequences: int, steps: int) -> np.ndarray:
    states = [rng.integers(0, len(moves), sequences)]
    for _ in range(steps - 1):
        drawn = rng.random((sequences, 1))
        states.append((drawn > moves[states[-1]].cumsum(axis=1)).sum(axis=1).clip(max=len(moves) - 1))
    return np.stack(states, axis=1)


def _likeliest(moves: np.ndarray, numbers: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return the most likely state of each step, given all numbers of its sequence and the true mechanism."""
    fit = np.exp(-0.5 * ((numbers[:, :, None, :] - levels) ** 2).sum(axis=3))
    forward, backward = [fit[:, 0]], [np.ones_like(fit[:, 0])]
    for step in range(1, fit.shape[1]):
        told = forward[-1] @ moves * fit[:, step]
        forward.append(told / told.sum(axis=1, keepdims=True))
        told = (backward[-1] * fit[:, -step]) @ moves.T
        backward.append(told / told.sum(axis=1, keepdims=True))
    return np.asarray(np.argmax(np.stack(forward, axis=1) * np.stack(backward[::-1], axis=1), axis=2))


def _windows(data: PublicData, reaches: tuple[int, ...], *, relative: bool) -> Reading:
    """Return each row's numbers with their means over some steps before and after it."""
    found = read(data, as_is)
    both, thing = found.both, found.both.columns[0]
    numbers = both.select_dtypes("number").iloc[:, 1:]
    if relative:
        numbers = numbers - numbers.groupby(both[thing]).transform("mean")
    parts = [both.drop(columns=thing)]
    for reach in reaches:
        rolled = numbers.groupby(both[thing], sort=False).rolling(2 * reach + 1, center=True, min_periods=1).mean()
        parts.append(rolled.reset_index(level=0, drop=True).sort_index().add_suffix(f" around {reach}"))
    if relative:
        parts.append(numbers.add_suffix(" less mean"))
    return Reading(pd.concat(parts, axis=1), found.train_rows)


def around(data: PublicData) -> Reading:
    return _windows(data, (1,), relative=False)


def relative(data: PublicData) -> Reading:
    return _windows(data, (1,), relative=True)


def far_around(data: PublicData) -> Reading:
    return _windows(data, (1, 3, 6), relative=True)


def indicators(target: pd.Series) -> np.ndarray:
    return pd.get_dummies(target, dtype=float).to_numpy()


def finish(prediction: np.ndarray, target: pd.Series) -> np.ndarray:
    """Predict the most likely state."""
    return np.asarray(np.array(sorted(target.unique()), dtype=object)[prediction.argmax(axis=1)])


family = world_family(
    "sequence-labelling",
    "Which state is it in?",
    "sequence labelling",
    metric=accuracy,
    submission=Columns(id="id", target="target", values=Text(blank=False)),
    draw_once=draw_once,
    entrants=ladder_entrants(
        Goal(learned=indicators, finish=finish), raw=as_is, plain=around, good=relative, expert=far_around
    ),
    row="{parent} step",
)
