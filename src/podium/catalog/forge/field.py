"""The field: entrants that really train on the public data of a forged task and form its leaderboard."""

from __future__ import annotations

import json
import multiprocessing
import os
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from podium.catalog.forge.families import load_family
from podium.catalog.forge.family import Family, ForgedData, Pipeline
from podium.catalog.forge.forge_ids import DIFFICULTIES, Difficulty, ForgeId, forge_id
from podium.catalog.forge.secret import Secret, read_secret
from podium.catalog.forge.training_seeds import TrainingSeed

FIELDS = Path(__file__).parent / "fields"
"""Fields that were measured once and are kept in the repository, by task id."""
DECIMALS = 6
"""Scores are kept this precise, so that the last bits of a machine's arithmetic do not show."""

Source = int | Secret | TrainingSeed
"""Source of a task's randomness: a public seed, a secret, or a training seed."""
_measuring = threading.Lock()


def source_of(parts: ForgeId) -> Source:
    """Return the source of a task's random numbers; a secret is looked up in the data home."""
    if parts.seed is None:
        return read_secret(parts)
    return TrainingSeed(parts.seed) if parts.training else parts.seed


def stored_field(parts: ForgeId) -> str | None:
    """Return the JSON of a field that is kept in the repository, or None."""
    path = FIELDS / f"{parts}.json"
    return path.read_text(encoding="utf-8") if path.is_file() else None


@dataclass(frozen=True)
class Entrant:
    """One competitor of the field and the score it reached."""

    pipeline: str
    skill: str
    score: float


@dataclass(frozen=True)
class Field:
    """The measured leaderboard of a forged task, best entrant first."""

    lower_is_better: bool
    ceiling: float
    """Score of the true mechanism on the same noisy answers."""
    entrants: tuple[Entrant, ...]

    @property
    def scores(self) -> tuple[float, ...]:
        return tuple(entrant.score for entrant in self.entrants)

    def to_json(self) -> str:
        """Return the text of `leaderboard.json`: scores for ranking, entrants for information."""
        document = {
            "lower_is_better": self.lower_is_better,
            "ceiling": self.ceiling,
            "scores": self.scores,
            "entrants": [asdict(entrant) for entrant in self.entrants],
        }
        return json.dumps(document, indent=1) + "\n"


def read_field(path: Path) -> Field:
    """Read a field from a file that `Field.to_json` wrote."""
    document = json.loads(path.read_text(encoding="utf-8"))
    entrants = tuple(Entrant(**entrant) for entrant in document["entrants"])
    return Field(document["lower_is_better"], document["ceiling"], entrants)


def draw_data(family: Family, difficulty: Difficulty, source: Source) -> ForgedData:
    """Draw the competition of a source."""
    if isinstance(source, int):
        rng = np.random.default_rng([source, DIFFICULTIES.index(difficulty)])
    else:
        rng = source.generator(f"data {family.name} {difficulty}")
    return family.draw(rng, difficulty, _id_of(family, difficulty, source).words)


def _id_of(family: Family, difficulty: Difficulty, source: Source) -> ForgeId:
    if isinstance(source, TrainingSeed):
        return forge_id(family.name, difficulty, source.number, training=True)
    return forge_id(family.name, difficulty, source)


def entrant_generator(source: Source, number: int) -> np.random.Generator:
    """Return the random generator of one entrant of the field."""
    return np.random.default_rng([source, number]) if isinstance(source, int) else source.generator(f"entrant {number}")


def lineup(family: Family, difficulty: Difficulty = "medium") -> list[Pipeline]:
    """Return the pipeline of each entrant; an entrant's number is its position here."""
    pipelines = family.tiny if difficulty == "tiny" else family.pipelines
    return [pipeline for pipeline in pipelines for _ in range(pipeline.entrants)]


def measure_field(
    family: Family,
    difficulty: Difficulty,
    source: Source,
    *,
    workers: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    forged: ForgedData | None = None,
) -> Field:
    """Train and rank every entrant, with one process per core; a tiny field is trained in this process."""
    numbers = range(len(lineup(family, difficulty)))[::-1]  # experts first: what takes longest must not come last
    forged = forged or draw_data(family, difficulty, source)
    if difficulty == "tiny":
        found = _measure_here(family, forged, source, numbers)
    else:
        found = measure_entrants(family, difficulty, source, numbers, workers=workers, forged=forged)
    entrants: list[Entrant] = []
    for entrant in found:
        entrants.insert(0, entrant)
        if on_progress:
            on_progress(len(entrants), len(numbers))
    better_first = -1 if family.metric.higher_is_better else 1
    return Field(
        lower_is_better=not family.metric.higher_is_better,
        ceiling=round(family.score(forged, forged.ceiling), DECIMALS),
        entrants=tuple(sorted(entrants, key=lambda entrant: better_first * entrant.score)),
    )


def measure_entrants(
    family: Family,
    difficulty: Difficulty,
    source: Source,
    numbers: Sequence[int],
    *,
    workers: int | None = None,
    forged: ForgedData | None = None,
) -> Iterator[Entrant]:
    """Train entrants in separate processes with one thread each, and return their scores."""
    workers = min(workers or len(os.sched_getaffinity(0)), len(numbers))
    # Every process gets the data once: to draw it there again, calibration included, would take longer.
    work = _Work(family.name, difficulty, source, forged or draw_data(family, difficulty, source))
    # Spawned, not forked: OpenMP's threads of a parent process do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(work,)) as pool:
        yield from pool.map(_measure_entrant, numbers)


@dataclass(frozen=True)
class _Work:
    """Job of a process that trains entrants."""

    family: str
    difficulty: Difficulty
    source: Source
    forged: ForgedData


_work: _Work
"""Set at the start of every process that trains entrants."""


def _begin(work: _Work) -> None:
    global _work
    _work = work


def _measure_entrant(number: int) -> Entrant:
    family = load_family(_work.family)
    pipeline = lineup(family, _work.difficulty)[number]
    prediction = run_pipeline(pipeline, _work.forged, entrant_generator(_work.source, number))
    return _scored(family, pipeline, _work.forged, prediction)


def _measure_here(family: Family, forged: ForgedData, source: Source, numbers: Sequence[int]) -> Iterator[Entrant]:
    """Train the entrants of a tiny field in this process: starting another takes longer than the training."""
    from threadpoolctl import threadpool_limits

    pipelines = lineup(family, "tiny")
    with _measuring, threadpool_limits(1):  # they share what they read of the data
        for number in numbers:
            pipeline = pipelines[number]
            prediction = forged.predict(pipeline.predict, entrant_generator(source, number))
            yield _scored(family, pipeline, forged, prediction)


def _scored(family: Family, pipeline: Pipeline, forged: ForgedData, prediction: np.ndarray) -> Entrant:
    return Entrant(pipeline.name, pipeline.skill, round(family.score(forged, prediction), DECIMALS))


def run_pipeline(pipeline: Pipeline, forged: ForgedData, rng: np.random.Generator) -> np.ndarray:
    """Return a pipeline's prediction, computed on one thread so that it does not depend on the machine's cores."""
    import sklearn.ensemble  # noqa: F401  a limit holds only for libraries that are already loaded
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # entrants that stop before convergence are part of the field
        return forged.predict(pipeline.predict, rng)
