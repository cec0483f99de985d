"""Multi-label classification: which of several labels does each row have, if any?"""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.generic_entrants import Goal
from podium.catalog.forge.world.assemble_family import row_family
from podium.catalog.forge.world.brief import ID_AND_TARGET
from podium.catalog.forge.world.expressions import standardised
from podium.catalog.forge.world.row_task import Form, Outcome, World
from podium.metrics import label_mean_f1
from podium.task import Columns, Text

FORM = Form(
    metric="The F1 of each row's labels, averaged.\nTwo rows without labels count as 1.\nHigher is better.",
    submission=f"{ID_AND_TARGET}\nLabels are separated by blanks.\nWhere none applies, the cell is empty.",
)


def outcome(rng: np.random.Generator, world: World) -> Outcome:
    """Draw labels, each from a mechanism of its own and one that all share."""
    known = world.story.domain.labels
    labels = np.array([known[index] for index in np.sort(rng.permutation(len(known))[: int(rng.integers(4, 7))])])
    shared = world.draw_mechanism(rng).signal
    chances = []
    for _ in labels:
        own = standardised(world.draw_mechanism(rng).signal + rng.uniform(-0.6, 0.6) * shared)
        chances.append(1 / (1 + np.exp(-2.5 / (0.3 + world.noise) * (own - np.quantile(own, rng.uniform(0.5, 0.85))))))
    chance = np.column_stack(chances)
    return Outcome(
        target=joined_labels(rng.random(chance.shape) < chance, labels),
        ceiling=joined_labels(best_to_name(chance), labels),
        asked=f"which labels of {', '.join(labels)} apply",
        sample=str(labels[0]),
        meaning="labels, separated by blanks; empty: none",
    )


def best_to_name(chance: np.ndarray) -> np.ndarray:
    """Return, for each row, the set of labels with the highest expected F1."""
    sets = np.array(list(product([False, True], repeat=chance.shape[1])))
    sizes = sets.sum(axis=1)
    total, common = sizes[:, None] + sizes, sets.astype(float) @ sets.T
    f1 = np.where(total == 0, 1.0, 2 * common / np.maximum(total, 1))
    likely = np.prod(np.where(sets, chance[:, None], 1 - chance[:, None]), axis=2)
    return np.asarray(sets[np.argmax(likely @ f1, axis=1)])


def joined_labels(chosen: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return a text of the labels of each row."""
    return np.array([" ".join(labels[row]) for row in chosen], dtype=object)


def label_names(target: pd.Series) -> np.ndarray:
    return np.array(sorted({label for text in target for label in text.split()}))


def indicators(target: pd.Series) -> np.ndarray:
    """Return a column of 0 and 1 for each label."""
    names = label_names(target)
    named = [set(text.split()) for text in target]
    return np.array([[name in labels for name in names] for labels in named], dtype=float)


def finish(prediction: np.ndarray, target: pd.Series) -> np.ndarray:
    """Predict each label for the same share of rows as in train, or slightly more."""
    counts = Counter(label for text in target for label in text.split())
    names = np.array(sorted(counts))
    rates = np.clip(1.2 * np.array([counts[name] for name in names]) / len(target), 0, 1)
    limits = np.diagonal(np.quantile(prediction, 1 - rates, axis=0))
    return joined_labels(prediction > limits, names)


family = row_family(
    "multi-label",
    "Which labels apply?",
    "multi-label classification",
    metric=label_mean_f1,
    submission=Columns(id="id", target="target", values=Text()),
    form=FORM,
    make_outcome=outcome,
    goal=Goal(learned=indicators, finish=finish),
)
