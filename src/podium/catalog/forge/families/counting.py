"""Counting: how many things are in a picture, when light is uneven, things overlap and some are of another kind?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.closed_form import distinct_numbers
from podium.catalog.forge.entrants.field_mix import ladder_entrants
from podium.catalog.forge.entrants.generic_entrants import Goal
from podium.catalog.forge.entrants.learners import blurred, evened, grid, per_picture
from podium.catalog.forge.entrants.table_readings import Reading, as_is, read
from podium.catalog.forge.family import ForgedData, PublicData
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.assemble_family import world_family
from podium.catalog.forge.world.brief import ID_AND_TARGET, Story
from podium.catalog.forge.world.sheet import SheetQuestion, Sizes, add_categories, add_numbers, draw_sheet, sheet_task
from podium.catalog.forge.world.vocabulary import PICTURES
from podium.metrics import rmse
from podium.task import Columns

ROWS: Sizes = {"easy": (1400, 900), "medium": (1100, 900), "hard": (900, 900), "tiny": (48, 32)}
NOISE: Mapping[Difficulty, float] = {"easy": 12, "medium": 20, "hard": 28, "tiny": 10}
SIDE: Mapping[Difficulty, int] = {"easy": 40, "medium": 40, "hard": 40, "tiny": 24}
NUMBERS = 9
MAX_THINGS = 16
NOTES = (
    "Whoever counted in the {rows} of {place} was off by one now and then.",
    "In the {rows} of {place} things of another kind, which do not count, are {other} than those that do.",
)


def draw_once(rng: np.random.Generator, difficulty: Difficulty, story: Story) -> ForgedData:
    """Draw facts about each picture, its number of things, and the picture."""
    train_rows, test_rows = ROWS[difficulty]
    count = train_rows + test_rows
    sheet = draw_sheet(rng, story, count)
    facts = rng.normal(size=(count, NUMBERS))
    rate = np.exp(1.6 + 0.35 * facts[:, 0] - 0.25 * np.abs(facts[:, 1]))
    things = np.minimum(rng.poisson(rate), MAX_THINGS)
    brighter = bool(rng.random() < 0.5)
    folder = story.naming.file(story.domain.record.many)
    names = np.array([f"{folder}/{number:06d}.png" for number in distinct_numbers(rng, 900_000, count)], dtype=object)
    pictures = _draw_pictures(rng, things, difficulty, brighter=brighter)
    picture = story.naming.about(story.domain.row.one, PICTURES)
    sheet.add(picture, names, "its picture")
    add_numbers(rng, sheet, facts[:, rng.permutation(NUMBERS)])
    add_categories(rng, sheet)
    counted = np.maximum(things + (rng.random(count) < 0.2) * rng.choice([-1, 1], count), 0)
    question = SheetQuestion(
        rows=f"pictures of {story.domain.row.many}",
        asked="how many things each picture shows",
        meaning="how many were counted",
        metric="The root mean squared error.\nLower is better.",
        form=ID_AND_TARGET,
        notes=NOTES,
        files=[(f"{folder}/", "pictures, named in the tables")],
        figures={"other": "darker" if brighter else "brighter"},
    )
    return sheet_task(
        rng,
        sheet,
        question,
        target=counted,
        ceiling=things.astype(float),
        sample=round(float(counted[:train_rows].mean()), 1),
        train_rows=train_rows,
        payload=dict(zip(names, pictures, strict=True)),
    )


def _draw_pictures(
    rng: np.random.Generator, things: np.ndarray, difficulty: Difficulty, *, brighter: bool
) -> np.ndarray:
    """Draw discs that count, discs of opposite sign that do not, uneven light, and noise."""
    count, side = len(things), SIDE[difficulty]
    right, down = grid(side)
    tilt = [per_picture(rng.normal(0, 1.2, count)) for _ in range(2)]
    stack = 120 + per_picture(rng.normal(0, 12, count)) + tilt[0] * right + tilt[1] * down
    others = rng.integers(0, 7, count)
    for number in range(MAX_THINGS + 6):
        counts = number < things
        shown = counts | (number - things < others)
        sign = np.where(counts, 1, -1) * (1 if brighter else -1)
        x, y = (per_picture(rng.uniform(-side / 2 + 2, side / 2 - 2, count)[shown]) for _ in range(2))
        radius = per_picture(rng.uniform(1.6, 3.4, count)[shown])
        disc = 1 / (1 + np.exp(2.5 * (np.hypot(right - x, down - y) - radius)))
        stack[shown] += per_picture((sign * rng.uniform(45, 80, count))[shown]) * disc
    return np.asarray(np.clip(stack + NOISE[difficulty] * rng.normal(size=stack.shape), 0, 255), dtype=np.uint8)


def _stack(data: PublicData) -> np.ndarray:
    paths = pd.concat([data.train, data.test]).iloc[:, 1]
    return np.stack([data.payload[path] for path in paths]).astype(float)


def _even(data: PublicData) -> np.ndarray:
    return evened(read(data, _stack), 8)


def _facts(data: PublicData) -> pd.DataFrame:
    return read(data, as_is).both.iloc[:, 1:]


def only_tables(data: PublicData) -> Reading:
    return Reading(_facts(data), len(data.train))


def brightness(data: PublicData) -> Reading:
    """Add the mean brightness of the pictures and its variation."""
    stack = read(data, _stack).reshape(len(data.train) + len(data.test), -1)
    shares = (0.05, 0.5, 0.95)
    levels = dict(zip((f"level {share}" for share in shares), np.quantile(stack, shares, axis=1), strict=True))
    found = {"mean": stack.mean(axis=1), "spread": stack.std(axis=1), **levels}
    return read(data, only_tables).with_columns(found)


def areas(data: PublicData) -> Reading:
    """Add the share of each picture that is brighter or darker than its surroundings."""
    even = blurred(read(data, _even), 0.8)
    shares = {f"above {limit}": (even > limit).mean((1, 2)) for limit in (0.6, 1.0, 1.5)}
    shares |= {f"below {limit}": (even < -limit).mean((1, 2)) for limit in (0.6, 1.0, 1.5)}
    return read(data, brightness).with_columns(shares)


def spots(data: PublicData) -> Reading:
    """Add the number of spots: peaks and connected areas at several thresholds."""
    from scipy.ndimage import maximum_filter

    even = blurred(read(data, _even), 1.2)
    found: dict[str, np.ndarray] = {}
    for sign, name in ((1, "bright"), (-1, "dark")):
        smooth = sign * even
        peaks = smooth == maximum_filter(smooth, (1, 5, 5))
        for limit in (0.5, 0.8, 1.1):
            found[f"{name} peaks {limit}"] = (peaks & (smooth > limit)).sum((1, 2))
            found[f"{name} areas {limit}"] = _count_areas(smooth > limit)
    return read(data, areas).with_columns(found)


def _count_areas(stack: np.ndarray) -> np.ndarray:
    """Return the number of connected areas in each picture."""
    from scipy.ndimage import generate_binary_structure, label

    touching = generate_binary_structure(3, 1)
    touching[[0, 2]] = False  # an area does not go on in the next picture
    areas, count = label(stack, touching)
    picture = np.zeros(count + 1, dtype=int)
    picture[areas.reshape(len(stack), -1)] = np.arange(len(stack))[:, None]
    return np.bincount(picture[1:], minlength=len(stack))


family = world_family(
    "counting",
    "How many are there?",
    "counting in pictures",
    metric=rmse,
    submission=Columns(id="id", target="target", values=float),
    draw_once=draw_once,
    entrants=ladder_entrants(
        Goal(),
        raw=only_tables,
        plain=brightness,
        good=areas,
        expert=spots,
    ),
)
