"""Scores what scripts predict for rows that were set aside, and blends scripts by those scores."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from anyio import to_thread

from podium.agents.search.final_selection import blending
from podium.errors import SandboxGoneError
from podium.sandbox.inspect_provider import PodiumSandbox
from podium.scoring.held_out_split import HeldOut
from podium.tables.parse_numbers import to_numbers
from podium.task import SUBMISSION, Task

PREDICTIONS = "predictions.csv"
"""All that a script predicted, beside its submission."""
ROUNDS = 20
"""Of adding a script to an ensemble; each may be added again."""


@dataclass(frozen=True)
class HeldOutScoring:
    """In the sandbox of one run."""

    held_out: HeldOut
    sandbox: PodiumSandbox

    async def take(self, folder: str) -> tuple[float | None, float | None]:
        """The scores of the submission in a folder; what is left there has the test rows alone."""
        predictions = await self._read(f"{folder}/submission.csv")
        if predictions is None:
            return None, None
        rest, parts = await to_thread.run_sync(self.held_out.split, predictions)
        try:
            await self._write(f"{folder}/{PREDICTIONS}", predictions)
            await self._write(f"{folder}/submission.csv", rest)
        except SandboxGoneError:
            raise
        except OSError:  # the script left something there that is no file, or cannot be written
            return None, None

        def score() -> tuple[float | None, float | None]:
            return self.held_out.score(parts["search"], "search"), self.held_out.score(parts["selection"], "selection")

        return await to_thread.run_sync(score)

    async def submit_ensemble(self, folders: Sequence[str]) -> str:
        """Submits the blend that does best on the rows for the final choice; its weights, in words.

        Raises:
            ValueError: there is nothing to blend, or the submission cannot be written.
        """
        read = [(folder, await self._read(f"{folder}/{PREDICTIONS}")) for folder in folders]
        tables = {folder: table for folder, table in read if table is not None}
        task = self.held_out.prepared.task
        blend, counts = await to_thread.run_sync(blended, task, tables, self._selection_score)
        rest, _ = await to_thread.run_sync(self.held_out.split, blend)
        try:
            await self._write(SUBMISSION, rest)
        except SandboxGoneError:
            raise
        except OSError as error:
            raise ValueError(f"{SUBMISSION} cannot be written: {error.strerror}") from error
        return ", ".join(f"{folder} x {count}" for folder, count in counts.most_common())

    def _selection_score(self, predictions: pd.DataFrame) -> float | None:
        return self.held_out.score(self.held_out.split(predictions)[1]["selection"], "selection")

    async def _read(self, path: str) -> pd.DataFrame | None:
        """A table that a script left; None where it has not the form of a submission."""
        try:
            data = await self.sandbox.read(path, limit_bytes=self.held_out.limit_bytes)
        except OSError:
            return None

        def parse() -> pd.DataFrame | None:
            with tempfile.TemporaryDirectory(prefix="podium-held-out-") as folder:
                copy = Path(folder, PREDICTIONS)
                copy.write_bytes(data)
                return self.held_out.read(copy)

        return await to_thread.run_sync(parse)

    async def _write(self, path: str, table: pd.DataFrame) -> None:
        await self.sandbox.write(path, await to_thread.run_sync(lambda: table.to_csv(index=False).encode()))


def blended(
    task: Task, tables: dict[str, pd.DataFrame], score_of: Callable[[pd.DataFrame], float | None]
) -> tuple[pd.DataFrame, Counter[str]]:
    """The best blend of predictions on the rows for the final choice, and how often each is in it.

    Predictions are added one by one, each time the one that helps most, and again if that helps: so few rows cannot
    be overfitted by much.

    Raises:
        ValueError: there is nothing to blend.
    """
    scores = {name: score_of(table) for name, table in tables.items()}
    known = {name: score for name, score in scores.items() if score is not None}
    if not known:
        raise ValueError("no script has a score on the rows set aside")
    best = max(known, key=lambda name: known[name] if task.metric.higher_is_better else -known[name])
    counts = Counter([best])
    if not all(blending(task, column) in ("mean", "rank") for column in task.form.targets):
        return tables[best], counts
    frames = {name: _numbers(tables[name], task, tables[best]) for name in known}
    score = known[best]
    for _ in range(ROUNDS):
        tried = {name: score_of(_mean(frames, counts + Counter([name]), tables[best])) for name in frames}
        usable = {name: value for name, value in tried.items() if value is not None}
        if not usable:
            break
        name = max(usable, key=lambda name: usable[name] if task.metric.higher_is_better else -usable[name])
        if not task.metric.is_better(usable[name], score):
            break
        score, counts = usable[name], counts + Counter([name])
    return (_mean(frames, counts, tables[best]) if len(counts) > 1 else tables[best]), counts


def _numbers(table: pd.DataFrame, task: Task, like: pd.DataFrame) -> pd.DataFrame:
    """The target columns as numbers, in the order of another table; as ranks where only the order counts."""
    ids, targets = list(task.form.ids), list(task.form.targets)
    numbers: pd.DataFrame = table.set_index(ids)[targets].apply(to_numbers)
    numbers = numbers.reindex(pd.MultiIndex.from_frame(like[ids]) if len(ids) > 1 else pd.Index(like[ids[0]]))
    ranked = [column for column in targets if blending(task, column) == "rank"]
    numbers[ranked] = numbers[ranked].rank(pct=True)
    return numbers


def _mean(frames: dict[str, pd.DataFrame], counts: Counter[str], like: pd.DataFrame) -> pd.DataFrame:
    values = np.average([frames[name].to_numpy() for name in counts], axis=0, weights=list(counts.values()))
    first = next(iter(frames.values()))
    mean: pd.DataFrame = like.assign(**{column: values[:, place] for place, column in enumerate(first.columns)})
    return mean
