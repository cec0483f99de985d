"""Recipes tried one by one on small tasks, forged or real, as programs with one core and without a sandbox.

On each task every candidate runs: the quick recipe for tables, with other settings too, and the ensemble with each of
its models alone. Noted are the score that the script says it has and the one it really has, as a share of the way from
the sample submission to the ceiling (on real tables, where nobody knows that, to the truth). What a choice among
candidates would have come to can then be worked out without running anything again.
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
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from podium.catalog.authoring.task_folder import Draft
from podium.catalog.forge.families import load_family
from podium.catalog.forge.family import ForgedData, PublicData
from podium.catalog.forge.field import Source, draw_data
from podium.catalog.forge.forged_data import write_public
from podium.catalog.forge.world.row_task import TRAIN_ROWS
from podium.catalog.open_tables.package_tables import open_table_draft, open_table_ids, read_open_table
from podium.catalog.registry import load
from podium.recipes.kinds.table_recipes import RECIPES
from podium.recipes.recipe import Recipe, Settings
from podium.recipes.script_writer import write_script
from podium.tables.profile import Profile
from podium.tables.profile_task import profile_task
from podium.task import Columns, Metric

QUICK, ENSEMBLE = RECIPES
CHANGES: tuple[dict[str, float], ...] = ({"min_samples_leaf": 5}, {"min_samples_leaf": 40})
"""Other settings of the quick recipe's model."""
SMALL = {"folds": 2, "pairs": False, "relative": False, "search": False}
"""Settings with which the ensemble's models are as quick, and validated in the same way."""
REAL_TEST_ROWS = 100
TIME_S = 60.0
"""What a script is told that it may take; none of them needs so long."""
FAILURES = (ArithmeticError, AssertionError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""What a script may end with that does not suit its data."""
_METRIC = re.compile(r"^podium-metric: (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class SmallTask:
    """A task in memory to try candidates on."""

    data: ForgedData
    """Of real tables too."""
    form: Columns
    metric: Metric

    def share_of_way(self, submission: pd.DataFrame) -> float:
        """A submission's score: 0 as the sample's, 1 as the ceiling's, not below -1."""
        targets = list(self.form.targets)
        picked = targets if len(targets) > 1 else targets[0]
        truth, sample, found = (table[picked].to_numpy() for table in (self.data.answers, self.data.sample, submission))
        score, least, most = (self.metric(truth, prediction) for prediction in (found, sample, self.data.ceiling))
        return float(np.clip((score - least) / (most - least), -1.0, 1.0))


@dataclass(frozen=True)
class Candidate:
    """A script that can be tried."""

    name: str
    recipe: Recipe
    settings: Settings
    is_default: bool = True
    """Whether nobody changed the settings of its model."""


@dataclass(frozen=True)
class Trial:
    """What a candidate came to on a task."""

    candidate: str
    is_default: bool
    said: float | None
    """Its own validation score, of which more is better; None if it failed."""
    share: float
    """Its true score: 0 for that of the sample submission, 1 for the ceiling."""
    seconds: float


def forged_task(name: str, source: Source) -> SmallTask:
    """The tiny task of a family that is drawn from a source, without columns that give answers away.

    Its rules forbid these, and whoever uses them mostly reaches the ceiling.
    """
    family = load_family(name)
    forged = draw_data(family, "tiny", source)
    parts = (table.drop(columns=list(forged.public.forbidden)) for table in (forged.public.train, forged.public.test))
    kept = replace(forged, public=PublicData(*parts, forged.public.tables))
    return SmallTask(kept, family.form_of(forged), family.metric)


@cache
def real_tables(kind: str) -> tuple[str, ...]:
    """The tasks of the suite `open-tables` that are of a kind."""
    return tuple(name for name in open_table_ids() if load(name).kind == kind)


def real_task(name: str, seed: int) -> SmallTask:
    """Some rows of a real table, split at random; as many to learn from as a tiny forged one has."""
    draft = _draft(name)
    table, goal = draft.table, draft.goal
    rng = np.random.default_rng(seed)
    count = int(rng.integers(*TRAIN_ROWS["tiny"]))
    rows = table.rows if goal.prediction == "label" else table.rows.astype({table.target: float})
    train = test = rows[:0]
    while test[table.target].nunique() < 2 or train[table.target].nunique() < 2:
        drawn = rows.iloc[rng.permutation(len(rows))[: count + REAL_TEST_ROWS]].reset_index(drop=True)
        train, test = drawn[:count], drawn[count:].reset_index(drop=True)
    known, answers = train[table.target], test[[table.id, table.target]]
    guess = {"probability": 0.5, "number": known.median() if goal.prediction == "number" else None}
    data = ForgedData(
        brief=load(name).brief,
        public=PublicData(train, test.drop(columns=table.target)),
        answers=answers,
        sample=answers.assign(**{table.target: guess.get(goal.prediction, known.mode()[0])}),
        ceiling=answers[table.target].to_numpy(),
    )
    return SmallTask(data, load(name).form, goal.metric)


@cache
def _draft(name: str) -> Draft:
    return open_table_draft(read_open_table(name))


def try_all(task: SmallTask) -> list[Trial]:
    """All candidates on a task, in the order of the recipes."""
    form = task.form
    with tempfile.TemporaryDirectory() as folder:
        public = Path(folder, "public")
        public.mkdir()
        write_public(task.data, public)
        profile = profile_task(
            public, brief=task.data.brief, metric=task.metric, sample=form.sample, ids=form.ids, targets=form.targets
        )
        return [_trial(task, profile, public, candidate) for candidate in candidates(profile)]


def candidates(profile: Profile) -> Iterator[Candidate]:
    """What is tried, in the order in which it is written down."""
    if not QUICK.suits(profile):
        return
    quick, ensemble = QUICK.defaults(profile), {**ENSEMBLE.defaults(profile), **SMALL}
    yield Candidate(QUICK.name, QUICK, quick)
    for member in ensemble["members"]:
        yield Candidate(member, ENSEMBLE, {**ensemble, "members": [member]})
    for change in CHANGES:
        text = ", ".join(f"{name} {value:g}" for name, value in change.items())
        yield Candidate(f"{QUICK.name}: {text}", QUICK, {**quick, "model": {**quick["model"], **change}}, False)


def _trial(task: SmallTask, profile: Profile, public: Path, candidate: Candidate) -> Trial:
    recipe, settings = candidate.recipe, candidate.settings
    script = write_script(recipe.title, recipe.body(profile, settings), recipe=recipe.name, settings=settings)
    begun = time.perf_counter()
    said, submission = run_script(script, public)
    sign = 1.0 if task.metric.higher_is_better else -1.0
    share = 0.0 if submission is None else task.share_of_way(submission)
    return Trial(
        candidate.name,
        candidate.is_default,
        None if said is None or submission is None else sign * said,
        round(share, 6),
        round(time.perf_counter() - begun, 3),
    )


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
