"""Tables with texts and pictures: how much will it be, when part of what matters can only be read or seen?

Many rows have a picture. Its stripes are the stronger, the more strained the row is, and a condition is a dark spot.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.closed_form import distinct_numbers
from podium.catalog.forge.entrants.generic_entrants import Goal
from podium.catalog.forge.entrants.learners import blurred, grid, per_picture
from podium.catalog.forge.entrants.table_readings import Reading, read, summed_up
from podium.catalog.forge.families.tables_regression import FORM, outcome
from podium.catalog.forge.family import PublicData
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.assemble_family import row_family
from podium.catalog.forge.world.brief import say
from podium.catalog.forge.world.recording import Recording
from podium.catalog.forge.world.row_task import World
from podium.catalog.forge.world.vocabulary import PICTURES
from podium.metrics import rmse
from podium.task import Columns

SIDE = 20
NOISE: Mapping[Difficulty, float] = {"easy": 8, "medium": 12, "hard": 18, "tiny": 8}
PICTURED: Mapping[Difficulty, float] = {"easy": 0.5, "medium": 0.5, "hard": 0.5, "tiny": 0.4}
"""Share of rows that have a picture, small enough that the files are written quickly."""
SEEN = ("strain", "condition 1", "condition 2")
"""Facts that pictures show or remarks mention; all of them matter."""
TOLD = (
    "There are pictures of about {share:.0%} of the {rows} of {place}, which `{column}` names.",
    "Where `{column}` is blank, nobody in {place} took a picture.",
    "Pictures are named in `{column}`; {place} took some for about {share:.0%} of its {rows}.",
)


def illustrate(rng: np.random.Generator, world: World, recording: Recording) -> dict[str, np.ndarray]:
    """Add a column of paths, blank where there is no picture, and draw the pictures."""
    story, domain = world.story, world.story.domain
    share = PICTURED[world.difficulty]
    rows = np.flatnonzero(rng.random(world.rows) < share)
    folder, column = story.naming.file(domain.row.many), story.naming.about(domain.row.one, PICTURES)
    paths = np.full(world.rows, None, dtype=object)
    paths[rows] = [f"{folder}/{number:06d}.png" for number in distinct_numbers(rng, 900_000, len(rows))]
    recording.add(column, paths, "its picture, if there is one")
    recording.contents.append((f"{folder}/", "pictures, named in the tables"))
    recording.notes.append(say(rng, TOLD, column=column, share=share, rows=domain.row.many, place=story.place))
    hidden = world.population.hidden
    pictures = draw_pictures(rng, hidden["strain"][rows], hidden["condition 2"][rows], NOISE[world.difficulty])
    return dict(zip(paths[rows], pictures, strict=True))


def draw_pictures(rng: np.random.Generator, strain: np.ndarray, spotted: np.ndarray, noise: float) -> np.ndarray:
    """Draw stripes whose contrast is the strain, an optional dark spot, uneven light, and noise."""
    count, (right, down) = len(strain), grid(SIDE)
    light = 130 + per_picture(rng.normal(0, 15, count)) + per_picture(rng.normal(0, 1.5, count)) * right
    angle, length, phase = (per_picture(rng.uniform(low, high, count)) for low, high in ((0, np.pi), (5, 8), (0, 6.3)))
    stripes = np.sin((np.cos(angle) * right + np.sin(angle) * down) * 2 * np.pi / length + phase)
    x, y = (per_picture(rng.uniform(-SIDE / 2 + 3, SIDE / 2 - 3, count)) for _ in range(2))
    spot = 1 / (1 + np.exp(2.5 * (np.hypot(right - x, down - y) - 2.5)))
    stack = light + per_picture(12 * (1 + np.tanh(0.8 * strain))) * stripes - per_picture(60 * spotted) * spot
    return np.asarray(np.clip(stack + noise * rng.normal(size=stack.shape), 0, 255), dtype=np.uint8)


def _seen(data: PublicData) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the rows with a picture, and these pictures."""
    column = next(str(name) for name in data.test if data.test[name].isin(data.payload.keys()).any())
    paths = pd.concat([data.train[column], data.test[column]], ignore_index=True)
    rows = np.flatnonzero(paths.notna())
    return rows, np.stack([data.payload[path] for path in paths[rows]]).astype(float)


def with_pictures(data: PublicData) -> Reading:
    """Add the brightness of the pictures and its variation, with and without the uneven light."""
    rows, stack = read(data, _seen)
    detail = stack - blurred(stack, 4)
    facts = {"brightness": stack.mean((1, 2)), "spread": stack.std((1, 2))}
    for reach in (0.8, 1.5):
        smooth = blurred(detail, reach)
        facts |= {f"spread {reach}": smooth.std((1, 2)), f"darkest {reach}": smooth.min((1, 2))}
    known = read(data, summed_up)
    columns = pd.DataFrame(facts, rows).reindex(known.both.index)
    return known.with_columns({str(name): values for name, values in columns.items()})


family = row_family(
    "multimodal",
    "How much will it be, by table, text and picture?",
    "multimodal regression",
    metric=rmse,
    submission=Columns(id="id", target="target", values=float),
    form=FORM,
    make_outcome=partial(outcome, hidden=SEEN),
    goal=Goal(),
    illustrate=illustrate,
    summaries=with_pictures,
)
