"""Assembly of a family from a generator and its entrants: calibrated, with a field of generic entrants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from podium.catalog.forge.entrants.calibration import draw_calibrated
from podium.catalog.forge.entrants.field_mix import Entrants, table_entrants
from podium.catalog.forge.entrants.generic_entrants import Goal
from podium.catalog.forge.entrants.table_readings import Read, summed_up
from podium.catalog.forge.family import Family, ForgedData
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.brief import Story, draw_story
from podium.catalog.forge.world.row_task import Form, Illustrate, MakeOutcome, draw_row_task, no_pictures
from podium.task import Columns, Metric


def world_family(
    name: str,
    title: str,
    kind: str,
    *,
    metric: Metric,
    submission: Columns,
    draw_once: Callable[[np.random.Generator, Difficulty, Story], ForgedData],
    entrants: Entrants,
    row: str = "{row}",
) -> Family:
    """Return a family whose tasks are redrawn until they have the promised difficulty.

    Args:
        row: what its rows are called in names, with the domain's `{row}` or `{parent}`.
    """

    def tell(words: int) -> Story:
        return draw_story(np.random.default_rng(words), row)

    def draw(rng: np.random.Generator, difficulty: Difficulty, words: int) -> ForgedData:
        return draw_calibrated(
            lambda: draw_once(rng, difficulty, tell(words)),
            difficulty,
            entrants.probes,
            lambda forged, prediction: family.score(forged, prediction),
        )

    def form(words: int) -> Columns:
        story = tell(words)
        named = replace(submission, id=story.id)
        return replace(named, target=story.target) if isinstance(submission.target, str) else named

    family = Family(
        name=name,
        title=title,
        kind=kind,
        metric=metric,
        submission=submission,
        draw=draw,
        form=form,
        pipelines=entrants.field,
        defaults=entrants.defaults,
        tiny=entrants.tiny,
    )
    return family


def row_family(
    name: str,
    title: str,
    kind: str,
    *,
    metric: Metric,
    submission: Columns,
    form: Form,
    make_outcome: MakeOutcome,
    goal: Goal,
    illustrate: Illustrate = no_pictures,
    summaries: Read = summed_up,
) -> Family:
    """Return a family of tasks whose answers belong to rows of a table.

    Args:
        summaries: how the better entrants read it.
    """
    return world_family(
        name,
        title,
        kind,
        metric=metric,
        submission=submission,
        draw_once=lambda rng, difficulty, story: draw_row_task(rng, difficulty, story, make_outcome, form, illustrate),
        entrants=table_entrants(goal, summaries),
    )
