"""Two programs raced: starter and submission in turns, each time in a fresh sandbox, by Podium's clock."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from podium.errors import InvalidSubmission, PodiumError
from podium.task import Evaluation, ProgramResult, metric

Times = tuple[Sequence[float], Sequence[float]]
"""Of the starter and of the submission, in seconds."""
RESOLUTION_S, RESOLUTION = 0.02, 0.1
"""Starting a program takes that much more or less each time, in seconds and as a share: what is shorter is noise."""
AGREEMENT = 1.1
"""How far apart the two shortest times of a program may be where no further round is needed."""


@metric("Speed-up", higher_is_better=True)
def speed_up(times: Times, start_s: Sequence[float]) -> float:
    """How many times as fast the submitted program is as the starter, once both have started.

    The shortest time of several counts: whatever disturbs a measurement makes it longer.
    """
    starter, submitted = (_working(min(seconds), start_s) for seconds in times)
    return starter / submitted


def _working(seconds: float, start_s: Sequence[float]) -> float:
    start = min(start_s)
    return max(RESOLUTION_S, RESOLUTION * start, seconds - start)


def _settled(seconds: Sequence[float], start_s: Sequence[float]) -> bool:
    """Whether the two shortest times agree, so that neither is likely to have been disturbed much."""
    first, second = sorted(seconds)[:2]
    return _working(second, start_s) <= AGREEMENT * _working(first, start_s)


def race(
    evaluation: Evaluation,
    *,
    program: str,
    output: str,
    rounds: int,
    nothing: bytes,
    draw: Callable[[], bytes],
    check: Callable[[bytes, bytes], None],
    data: bool = False,
) -> float:
    """The speed-up of a program called as `python PROGRAM input.npz OUTPUT`.

    Args:
        rounds: at most; two are enough where times agree.
        nothing: an input without work in it. The time the starter takes for that, which is what starting costs
            everybody, is subtracted; the starter tells it, as it has no reason to pretend.
        draw: an input that nobody has seen before.
        check: compares the output of the starter (first) with that of the submission.
        data: whether the programs see the public data.
    """
    assert evaluation.starter is not None
    command = ["python", program, "input.npz", output]
    starter, submission = (folder / program for folder in (evaluation.starter, evaluation.submission))

    def run(place: Path, content: bytes, time_s: float = 3600) -> ProgramResult:
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
        start_s.append(run(starter, nothing).seconds)
        content = draw()
        if number % 2:  # whoever runs second may find a warmer machine: both do in turns
            tried = run(submission, content, 30 + 5 * max(starter_s))
            honest = run(starter, content)
        else:
            honest = run(starter, content)
            tried = run(submission, content, 30 + 5 * honest.seconds)
        expected = honest.read(output)
        check(expected, tried.read(output, len(expected) + (1 << 16)))
        starter_s.append(honest.seconds)
        submitted_s.append(tried.seconds)
        if number and _settled(starter_s, start_s) and _settled(submitted_s, start_s):
            break
    return speed_up((starter_s, submitted_s), start_s)


def packed(**arrays: np.ndarray) -> bytes:
    """Arrays as the content of an .npz file."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()
