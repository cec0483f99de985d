"""Speed comparison of starter and submission: run in turns, each time in a fresh sandbox, timed by Podium."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from podium.errors import InvalidSubmission, PodiumError
from podium.task import CompletedProgram, Evaluation, Measured, metric

RESOLUTION_S, RESOLUTION = 0.02, 0.1
"""Noise of a program's start-up time, in seconds and as a share; shorter times are noise."""
ROUNDS = 6
"""Number of rounds. With 6 ratios, [min, max] is a 97 % interval for the median."""


@metric("Speed-up", higher_is_better=True)
def speed_up(starter_s: Sequence[float], submitted_s: Sequence[float]) -> float:
    """Return the speed-up of the submission over the starter: the median over rounds."""
    return float(np.median(_ratios(starter_s, submitted_s)))


def measured_speed_up(starter_s: Sequence[float], submitted_s: Sequence[float], start_s: Sequence[float]) -> Measured:
    """Return the speed-up with its interval, after subtracting the start-up time from all times.

    Args:
        start_s: Start-up times; the shortest counts, since disturbances only make measurements longer.
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
    """Return the speed-up of a program called as `python PROGRAM input.npz OUTPUT`.

    Args:
        rounds: The number of alternating runs; with too few there is no interval.
        nothing: An input without work. The starter's time for it, which is the start-up time, is subtracted from all
            times; the submission's own start-up time could be manipulated.
        draw: Draws a new input.
        check: Compares the output of the starter (first) with that of the submission.
        data: True if the programs see the public data.
    """
    assert evaluation.starter is not None
    command = ["python", program, "input.npz", output]
    starter, submission = (folder / program for folder in (evaluation.starter, evaluation.submission))

    def run(place: Path, content: bytes, time_s: float = 3600) -> CompletedProgram:
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
        if number % 2:  # the second run may find a warmer machine, so the order alternates
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
    """Return arrays as the content of an .npz file."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()
