"""Vectorization: make a convolution layer in plain NumPy faster without changing what it computes."""

import secrets
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from podium.catalog.research._speedup import ROUNDS, packed, race, speed_up
from podium.data.formats.numpy_files import parse_array
from podium.errors import InvalidSubmission
from podium.task import Baseline, Evaluation, Files, Measured, Starter, metric, research_task

UNREADABLE_S = 1e10
"""Score in the original if no number is found."""
SHARE = 1e-9
"""Relative and absolute tolerance of values: permits another order of summation, but not single precision."""


@metric("Run time (s)", higher_is_better=False)
def first_time(truth: object, written: str) -> float:
    """Return the first cell of the first line of a file that programs append their times to."""
    line = next((line for line in written.splitlines() if line.strip()), "")
    try:
        seconds = float(line.split(";")[0])
    except ValueError:
        return UNREADABLE_S
    return seconds if np.isfinite(seconds) else UNREADABLE_S


task = research_task(
    "vectorization",
    title="Vectorization (MLAgentBench)",
    kind="code speed",
    metric=first_time,
    submission=Files(names=("submission/submission.csv",), max_bytes=1 << 20),
    starter=Starter(folder=Path(__file__).with_suffix(""), script="train.py"),
    reference=Baseline(6.1742),
)


@task.fetch
def fetch(raw: Path) -> None:
    raw.mkdir(parents=True, exist_ok=True)  # the task is its starter code; there is no data


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    """Fabricate nothing."""


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    """Prepare nothing: the description is the only data."""


@task.evaluate
def evaluate(evaluation: Evaluation) -> float:
    """Return the first time ever written, usually that of the unmodified starter; it is not checked."""
    written = (evaluation.submission / "submission/submission.csv").read_text(encoding="utf-8", errors="replace")
    return first_time(None, written)


@dataclass(frozen=True)
class Effort:
    """Amount of work measured: enough images that start-up time does not hide a speed-up of 50."""

    pictures: int
    rounds: int = ROUNDS


EFFORT = Effort(pictures=128)
MINIATURE_EFFORT = Effort(pictures=8)


def evaluate_fixed(evaluation: Evaluation) -> Measured:
    """Run starter and submission in turns on new images, timed by Podium."""
    effort = MINIATURE_EFFORT if evaluation.miniature else EFFORT
    rng = np.random.default_rng(secrets.randbits(128))
    return race(
        evaluation,
        program="train.py",
        output="output.npy",
        rounds=effort.rounds,
        nothing=_input(rng, 0),
        draw=lambda: _input(rng, effort.pictures),
        check=_check,
    )


def _input(rng: np.random.Generator, pictures: int) -> bytes:
    images, weight, bias = (rng.standard_normal(shape) for shape in ((pictures, 64, 64, 3), (3, 3, 3, 8), (8,)))
    return packed(images=images, weight=weight, bias=bias)


def _check(honest: bytes, tried: bytes) -> None:
    """Raise InvalidSubmission for an output that differs from the starter's."""
    expected, found = parse_array(honest), parse_array(tried)
    assert expected is not None
    if found is None or found.dtype != expected.dtype or found.shape != expected.shape:
        what = "no array that np.save wrote" if found is None else f"{found.dtype} of shape {found.shape}"
        wanted = f"{expected.dtype} of shape {expected.shape}"
        raise InvalidSubmission(f"output.npy contains {what}; the starter's output is {wanted}.")
    wrong = ~np.isclose(found, expected, rtol=SHARE, atol=SHARE)
    if wrong.any():
        place = tuple(int(index) for index in np.argwhere(wrong)[0])
        raise InvalidSubmission(
            f"output.npy differs from the starter's output in {int(wrong.sum()):,} of {wrong.size:,} values: "
            f"at {place} it has {found[place]:.12g} instead of {expected[place]:.12g}."
        )


task.fixed(
    "Podium measures. The original takes the first time ever written to a file that the agent's program appends to, so "
    "that the starter's own time stays the score whatever is improved, any number can be written there, and nobody "
    "looks at what is computed.",
    submission=Files(names=("train.py",), max_bytes=1 << 20, tolerance=0.5),
    evaluate=evaluate_fixed,
    metric=speed_up,
    reference=Baseline(1.0, by_definition=True),
)
