"""Held-out scores of scripts during a run, and ensembles weighted by these scores."""

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
"""File beside a submission with all predictions, including those of held-out rows."""
ROUNDS = 20
"""Maximum number of additions of a script to an ensemble; a script may be added several times."""


@dataclass(frozen=True)
class HeldOutScoring:
    """Held-out scoring in the sandbox of one run."""

    held_out: HeldOut
    sandbox: PodiumSandbox

    async def take(self, folder: str) -> tuple[float | None, float | None]:
        """Score the submission in a folder, and reduce it to the test rows. None where there is no score."""
        predictions = await self._read(f"{folder}/submission.csv")
        if predictions is None:
            return None, None
        rest, parts = await to_thread.run_sync(self.held_out.split, predictions)
        try:
            await self._write(f"{folder}/{PREDICTIONS}", predictions)
            await self._write(f"{folder}/submission.csv", rest)
        except SandboxGoneError:
            raise
        except OSError:  # the script left something that is not a file, or the folder is not writable
            return None, None

        def score() -> tuple[float | None, float | None]:
            return self.held_out.score(parts["search"], "search"), self.held_out.score(parts["selection"], "selection")

        return await to_thread.run_sync(score)

    async def submit_ensemble(self, folders: Sequence[str]) -> str:
        """Submit the blend with the best score on the selection rows. Return its weights as text.

        Raises:
            ValueError: no script has a score, or the submission cannot be written.
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
        """Read a table written by a script. Return None if it is not in the format of a submission."""
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
    """Return the best blend of predictions on the selection rows, and how often each script is in it.

    Greedy selection with replacement: the predictions that help most are added one by one, which limits overfitting to
    the few rows.

    Raises:
        ValueError: no script has a score.
    """
    scores = {name: score_of(table) for name, table in tables.items()}
    known = {name: score for name, score in scores.items() if score is not None}
    if not known:
        raise ValueError("no script has a score on the held-out rows")
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
    """Return the target columns as numbers in the row order of another table, as ranks if only the order counts."""
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
