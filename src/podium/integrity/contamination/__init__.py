"""Contamination: does a model know the tasks it is measured with?"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from podium.catalog.forge.families import load_family
from podium.errors import PodiumError
from podium.grading.prepared import PreparedTask
from podium.integrity.contamination.probes import (
    Ask,
    Fact,
    FactsProbe,
    RowsProbe,
    ask_for_solution,
    masked_facts,
    probe_facts,
    probe_rows,
)
from podium.integrity.contamination.statistics import (
    Correlation,
    Token,
    correlation,
    mean_probability,
    min_k_plus_plus,
    normalised_score,
    token_probabilities,
)

CONTROLS = ("tabular-classification", "tabular-regression", "time-series")
"""Families of forged tasks whose briefs describe tables."""
LEVEL = 0.01
"""Below this a probe says that a model knows a task."""

__all__ = [
    "Contamination",
    "Correlation",
    "Fact",
    "FactsProbe",
    "RowsProbe",
    "Token",
    "control_facts",
    "correlation",
    "masked_facts",
    "mean_probability",
    "min_k_plus_plus",
    "normalised_score",
    "probe",
    "probe_facts",
    "probe_rows",
    "through_inspect",
    "token_probabilities",
]


@dataclass(frozen=True)
class Contamination:
    """What a model knows of tasks that it was not told."""

    facts: FactsProbe
    rows: tuple[RowsProbe, ...]
    solutions: dict[str, str]
    """What the model says of the winning solution of each task, for a person to judge."""

    @property
    def is_known(self) -> bool:
        """Whether a probe says so; the rows of many tasks share one level."""
        level = LEVEL / max(1, len(self.rows))
        return self.facts.p < LEVEL or any(each.p <= level for each in self.rows)

    def to_dict(self) -> dict[str, Any]:
        return {"is_known": self.is_known, **asdict(self)}


def control_facts(seed: int) -> list[Fact]:
    """Facts of forged tasks, which were made up for Podium and belong to no competition."""
    briefs = {name: load_family(name).draw(np.random.default_rng(seed), "easy").brief for name in CONTROLS}
    return [fact for name, brief in briefs.items() for fact in masked_facts(name, brief)]


def probe(ask: Ask, tasks: Sequence[PreparedTask], *, seed: int) -> Contamination:
    """Asks a model for what was cut out of the briefs of tasks, and for the first rows of their tables.

    Args:
        seed: of the forged tasks that are the control; one that was never published.
    """
    facts = [fact for each in tasks for fact in masked_facts(each.task.id, each.task.brief)]
    rows = []
    for each in tasks:
        path = each.place.public / "train.csv"
        # A miniature is fabricated here: nobody can have seen its rows.
        if path.is_file() and not each.miniature:
            table = pd.read_csv(path, dtype=str, keep_default_na=False, nrows=5_000)
            rows.append(probe_rows(ask, each.task.id, each.task.brief, table))
    solutions = {each.task.id: ask_for_solution(ask, each.task.brief) for each in tasks}
    return Contamination(probe_facts(ask, facts, control_facts(seed)), tuple(row for row in rows if row), solutions)


def through_inspect(model_name: str, base_url: str | None = None) -> Ask:
    """Asks a model by way of Inspect.

    Raises:
        PodiumError: when asked, if the model cannot be.
    """
    from inspect_ai.model import GenerateConfig, get_model

    async def generate(question: str) -> str:
        async with get_model(model_name, base_url=base_url, memoize=False) as model:
            config = GenerateConfig(temperature=0.0, max_tokens=1_000, max_retries=5)
            return (await model.generate(question, config=config)).completion

    def ask(question: str) -> str:
        try:
            return asyncio.run(generate(question))
        except Exception as error:
            raise PodiumError(f"The model {model_name} cannot be asked: {str(error)[:300]}") from error

    return ask
