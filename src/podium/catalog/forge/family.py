"""What a family of forged tasks is made of: data drawn from a seed, and pipelines that compete on it."""

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
    """What every competitor sees, in memory."""

    train: pd.DataFrame
    test: pd.DataFrame
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    """Further tables by path, such as `edges.csv`; `.jsonl` and members of archives (`tables.zip/a.csv`) too."""
    payload: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Pictures (`.png`, uint8), sound (`.wav`, int16) and arrays (`.npy`) by path."""
    forbidden: tuple[str, ...] = ()
    """Columns that give answers away and may not be used, as the brief says; entrants leave them alone."""


Predict = Callable[[PublicData, np.random.Generator], np.ndarray]
"""Predicts the targets of the test rows from public data alone."""


@dataclass(frozen=True)
class ForgedData:
    """One competition drawn from a family: what is public, what is hidden, and the best anyone could do."""

    public: PublicData
    answers: pd.DataFrame
    """The id and target columns of every test row."""
    sample: pd.DataFrame
    """A valid submission that knows nothing."""
    ceiling: np.ndarray
    """What someone who knew the mechanism, but not the noise, would submit; rows as in `answers`."""
    brief: str = ""
    """Goal, files, data dictionary, metric and submission format, in Markdown; empty until a story is told."""
    own: PublicData | None = None
    """The public data in its family's own words, which entrants know; None where those are the published ones."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What labels in the family's own words are called in the published ones."""

    def predict(self, way: Predict, rng: np.random.Generator) -> np.ndarray:
        """What a way of working predicts, in the published words."""
        return relabelled(way(self.own or self.public, rng), self.labels)


def relabelled(prediction: np.ndarray, labels: Mapping[str, str]) -> np.ndarray:
    """Labels in other words, if these are any."""
    return np.array([labels[label] for label in prediction], dtype=object) if labels else prediction


@dataclass(frozen=True)
class Pipeline:
    """A way of working that entrants of the field follow; each draws its own settings from `rng`."""

    name: str
    skill: Skill
    predict: Predict
    entrants: int
    """How many of the field work this way."""


@dataclass(frozen=True)
class Family:
    """A kind of competition with a generator and a field of entrants."""

    name: str
    title: str
    kind: str
    metric: Metric
    submission: Columns
    """Its columns have other names in every task: see `form`."""
    draw: Callable[[np.random.Generator, Difficulty, int], ForgedData]
    """A task: its numbers come from the generator; its story and all names from a number, its words."""
    form: Callable[[int], Columns]
    """The form of submissions to the task of some words."""
    pipelines: tuple[Pipeline, ...]
    defaults: tuple[Pipeline, ...]
    """scikit-learn's default models on unprocessed columns, which good work has to beat."""
    tiny: tuple[Pipeline, ...] = ()
    """The field of its tiny tasks: pipelines that train in milliseconds. Without any there are no tiny tasks."""

    def form_of(self, forged: ForgedData) -> Columns:
        """The form of submissions to one competition, with the names that the columns of its sample have."""
        names, ids = tuple(map(str, forged.sample)), len(self.submission.ids)
        return replace(self.submission, id=names[:ids], target=names[ids:])

    def score(self, forged: ForgedData, prediction: Any) -> float:
        """The score of predictions given in the order of the answers."""
        targets = list(self.form_of(forged).targets)
        truth = forged.answers[targets if len(targets) > 1 else targets[0]].to_numpy()
        return self.metric(truth, prediction)
