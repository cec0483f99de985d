"""Two programs raced: starter and submission in turns, each time in a fresh sandbox, by Podium's clock."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from podium.errors import InvalidSubmission, PodiumError
from podium.task import EndedProgram, Evaluation, Measured, metric

RESOLUTION_S, RESOLUTION = 0.02, 0.1
"""Starting a program takes that much more or less each time, in seconds and as a share: what is shorter is noise."""
ROUNDS = 6
"""Of so many ratios all lie on one side of the true median in 1 of 32 races: their range is an interval of 97 %."""


@metric("Speed-up", higher_is_better=True)
def speed_up(starter_s: Sequence[float], submitted_s: Sequence[float]) -> float:
    """How many times as fast the submitted program is as the starter: the median over rounds."""
    return float(np.median(_ratios(starter_s, submitted_s)))


def measured_speed_up(starter_s: Sequence[float], submitted_s: Sequence[float], start_s: Sequence[float]) -> Measured:
    """The speed-up with its interval, once starting, which costs both the same, is taken off all times.

    Args:
        start_s: what starting took; the shortest counts, since whatever disturbs a measurement makes it longer.
    """
    start = min(start_s)
    noise = max(RESOLUTION_S, RESOLUTION * start)
    times = [[max(noise, seconds - start) for seconds in those] for those in (starter_s, submitted_s)]
    ratios = _ratios(*times)
    interval = (min(ratios), max(ratios)) if len(ratios) >= ROUNDS else None
    return Measured(speed_up(*times), interval)


def _ratios(starter_s: Sequence[float], submitted_s: Sequence[float]) -> list[float]:
    return [starter / submitted for starter, submitted in zip(starter_s, submitted_s, strict=True)]


def race(
    evaluation: Evaluation,
    *,
    program: str,
    output: str,
    rounds: int = ROUNDS,
    nothing: bytes,
    draw: Callable[[], bytes],
    check: Callable[[bytes, bytes], None],
    data: bool = False,
) -> Measured:
    """The speed-up of a program called as `python PROGRAM input.npz OUTPUT`.

    Args:
        rounds: how often both are run, next to each other; fewer give no interval.
        nothing: an input without work in it. The time the starter takes for that, which is what starting costs
            everybody, is subtracted; the starter tells it, as it has no reason to pretend.
        draw: an input that nobody has seen before.
        check: compares the output of the starter (first) with that of the submission.
        data: whether the programs see the public data.
    """
    assert evaluation.starter is not None
    command = ["python", program, "input.npz", output]
    starter, submission = (folder / program for folder in (evaluation.starter, evaluation.submission))

    def run(place: Path, content: bytes, time_s: float = 3600) -> EndedProgram:
        ran = evaluation.execute(command, files={program: place, "input.npz": content}, time_s=time_s, data=data)
        if ran.stopped or ran.exit_code:
            who, fault = ("the submission", InvalidSubmission) if place is submission else ("the starter", PodiumError)
            why = f"was stopped ({ran.stopped})" if ran.stopped else f"ended with exit code {ran.exit_code}"
            raise fault(f"'{' '.join(command)}' of {who} {why}: {ran.output[-500:] or 'it printed nothing'}")
        return ran

    start_s: list[float] = []
    starter_s: list[float] = []
    submitted_s: list[float] = []
    for number in range(rounds):
        content = draw()
        if number % 2:  # whoever runs second may find a warmer machine: both do in turns
            tried = run(submission, content, 30 + 5 * max(starter_s))
            honest = run(starter, content)
        else:
            start_s.append(run(starter, nothing).seconds)
            honest = run(starter, content)
            tried = run(submission, content, 30 + 5 * honest.seconds)
        expected = honest.read(output)
        check(expected, tried.read(output, len(expected) + (1 << 16)))
        starter_s.append(honest.seconds)
        submitted_s.append(tried.seconds)
    return measured_speed_up(starter_s, submitted_s, start_s)


def packed(**arrays: np.ndarray) -> bytes:
    """Arrays as the content of an .npz file."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()
