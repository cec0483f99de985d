"""Family of forged tasks: data drawn from a seed, and the pipelines that compete on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from podium.catalog.forge.forge_ids import Difficulty
from podium.task import Columns, Metric

Skill = Literal["naive", "plain", "good", "expert"]


@dataclass(frozen=True)
class PublicData:
    """Public data of a task, in memory."""

    train: pd.DataFrame
    test: pd.DataFrame
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    """Further tables by path, such as `edges.csv`; `.jsonl` and members of archives (`tables.zip/a.csv`) too."""
    payload: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Pictures (`.png`, uint8), sound (`.wav`, int16) and arrays (`.npy`) by path."""
    forbidden: tuple[str, ...] = ()
    """Columns that give answers away and may not be used, as the brief says; entrants leave them alone."""


Predict = Callable[[PublicData, np.random.Generator], np.ndarray]
"""Function that predicts the targets of the test rows from public data alone."""


@dataclass(frozen=True)
class ForgedData:
    """One competition drawn from a family: what is public, what is hidden, and the best anyone could do."""

    public: PublicData
    answers: pd.DataFrame
    """The id and target columns of every test row."""
    sample: pd.DataFrame
    """Valid submission without any information."""
    ceiling: np.ndarray
    """Submission of a competitor who knows the mechanism but not the noise, in the row order of `answers`."""
    brief: str = ""
    """Goal, files, data dictionary, metric and submission format, in Markdown; empty until a story is chosen."""
    own: PublicData | None = None
    """Public data with the family's own names, which entrants know; None where those are the published ones."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Published names of the labels, by the family's own names."""

    def predict(self, way: Predict, rng: np.random.Generator) -> np.ndarray:
        """Return the predictions of an approach, in the published names."""
        return relabelled(way(self.own or self.public, rng), self.labels)


def relabelled(prediction: np.ndarray, labels: Mapping[str, str]) -> np.ndarray:
    """Replace labels by their published names, where there are any."""
    return np.array([labels[label] for label in prediction], dtype=object) if labels else prediction


@dataclass(frozen=True)
class Pipeline:
    """Approach that several entrants of the field follow; each draws its own settings from `rng`."""

    name: str
    skill: Skill
    predict: Predict
    entrants: int
    """Number of entrants in the field that use this approach."""


@dataclass(frozen=True)
class Family:
    """Kind of competition with a generator and a field of entrants."""

    name: str
    title: str
    kind: str
    metric: Metric
    submission: Columns
    """Its columns have other names in every task: see `form`."""
    draw: Callable[[np.random.Generator, Difficulty, int], ForgedData]
    """Function that draws a task: its numbers from the generator, its story and all names from an integer."""
    form: Callable[[int], Columns]
    """Function that returns the form of submissions for the integer that determines the names."""
    pipelines: tuple[Pipeline, ...]
    defaults: tuple[Pipeline, ...]
    """scikit-learn's default models on unprocessed columns, which good work has to beat."""
    tiny: tuple[Pipeline, ...] = ()
    """Field of the tiny tasks: pipelines that train in milliseconds. A family without any has no tiny tasks."""

    def form_of(self, forged: ForgedData) -> Columns:
        """Return the form of submissions to one competition, with the column names of its sample."""
        names, ids = tuple(map(str, forged.sample)), len(self.submission.ids)
        return replace(self.submission, id=names[:ids], target=names[ids:])

    def score(self, forged: ForgedData, prediction: Any) -> float:
        """Return the score of predictions in the order of the answers."""
        targets = list(self.form_of(forged).targets)
        truth = forged.answers[targets if len(targets) > 1 else targets[0]].to_numpy()
        return self.metric(truth, prediction)
