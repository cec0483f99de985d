"""Recipes tried one by one on forged tasks, as programs with one core and without a sandbox.

On each task every candidate runs: each recipe for tables with its default settings, and the quickest one with other
settings too. Noted are the score that the script says it has and the one it really has, as a share of the way from the
sample submission to the ceiling. What a choice among candidates would have come to can then be worked out without
running anything again.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from podium.catalog.forge.families import load_family
from podium.catalog.forge.family import Family, ForgedData
from podium.catalog.forge.field import Source, draw_data
from podium.catalog.forge.forged_data import write_public
from podium.recipes.profile import Profile
from podium.recipes.profiler import profile_task
from podium.recipes.recipe import Recipe, Settings
from podium.recipes.scripts import write_script
from podium.recipes.tabular import RECIPES

QUICK = "quick boosting"
CHANGES: tuple[dict[str, float], ...] = (
    {"max_leaf_nodes": 4},
    {"max_leaf_nodes": 31},
    {"min_samples_leaf": 5},
    {"min_samples_leaf": 40},
    {"learning_rate": 0.05},
    {"max_iter": 200},
)
"""Other settings of the quickest recipe's model."""
LEFT_OUT = ("ensemble", "hybrid")
"""The first uses all the time it is given, the second consists of two others."""
TIME_S = 60.0
"""What a script is told that it may take; none of them needs so long."""
FAILURES = (ArithmeticError, AssertionError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""What a script may end with that does not suit its data."""
_METRIC = re.compile(r"^podium-metric: (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Trial:
    """What a candidate came to on a task."""

    candidate: str
    """The recipe, and what was changed about it."""
    is_default: bool
    said: float | None
    """Its own validation score, of which more is better; None if it failed."""
    share: float
    """Its true score: 0 for that of the sample submission, 1 for the ceiling."""
    seconds: float


def try_all(name: str, source: Source) -> list[Trial]:
    """All candidates on the tiny task of a family that is drawn from a source, in the order of the recipes."""
    family = load_family(name)
    forged = draw_data(family, "tiny", source)
    with tempfile.TemporaryDirectory() as folder:
        public = Path(folder, "public")
        public.mkdir()
        write_public(forged, public)
        form = family.form_of(forged)
        profile = profile_task(
            public, brief=forged.brief, metric=family.metric, sample=form.sample, ids=form.ids, targets=form.targets
        )
        return [_trial(family, forged, profile, public, *candidate) for candidate in candidates(profile)]


def candidates(profile: Profile) -> Iterator[tuple[str, Recipe, Settings]]:
    """What is tried: a name, a recipe and its settings."""
    for recipe in RECIPES:
        if recipe.name in LEFT_OUT or not recipe.suits(profile):
            continue
        settings = recipe.defaults(profile)
        yield recipe.name, recipe, settings
        for change in CHANGES if recipe.name == QUICK else ():
            text = ", ".join(f"{name} {value:g}" for name, value in change.items())
            yield f"{recipe.name}: {text}", recipe, {**settings, "model": {**settings["model"], **change}}


def _trial(
    family: Family, forged: ForgedData, profile: Profile, public: Path, name: str, recipe: Recipe, settings: Settings
) -> Trial:
    script = write_script(recipe.title, recipe.body(profile, settings), recipe=recipe.name, settings=settings)
    begun = time.perf_counter()
    said, submission = run_script(script, public)
    sign = 1.0 if family.metric.higher_is_better else -1.0
    share = 0.0 if submission is None else share_of_way(family, forged, submission)
    return Trial(
        name,
        recipe.name == name,
        None if said is None or submission is None else sign * said,
        round(share, 6),
        round(time.perf_counter() - begun, 3),
    )


def share_of_way(family: Family, forged: ForgedData, submission: pd.DataFrame) -> float:
    """A submission's score: 0 as the sample's, 1 as the ceiling's, not below -1."""
    columns = list(family.form_of(forged).targets)
    picked = columns if len(columns) > 1 else columns[0]
    scores = [family.score(forged, table[picked].to_numpy()) for table in (submission, forged.sample)]
    found, least, most = *scores, family.score(forged, forged.ceiling)
    return float(np.clip((found - least) / (most - least), -1.0, 1.0))


def run_script(script: str, data: Path) -> tuple[float | None, pd.DataFrame | None]:
    """What a script says its score is, and its submission; it runs in this process."""
    import sklearn.ensemble  # noqa: F401  a limit holds only for libraries that are already loaded
    from threadpoolctl import threadpool_limits

    output = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(output):
        os.environ |= {"PODIUM_DATA": str(data), "PODIUM_TIME_S": str(TIME_S)}
        with threadpool_limits(1), warnings.catch_warnings(), contextlib.suppress(*FAILURES):
            warnings.simplefilter("ignore")
            exec(compile(script, "script", "exec"), {"__name__": "__main__"})
        written = Path("submission.csv")
        submission = pd.read_csv(written) if written.exists() else None
    said = _METRIC.findall(output.getvalue())
    return (float(said[-1]) if said else None), submission
