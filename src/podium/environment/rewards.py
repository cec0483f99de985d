"""Rewards: functions of a step's changes, to be combined for a training run.

Private answers influence a reward only through `EpisodeStanding.grade`: at the end of an episode, and after every step
of a training task. A reward that uses only `valid` and `reported` is based on public data alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from podium.grading.grade import Grade
from podium.runs.records import RunRecord
from podium.task import Medal
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import Observation

MEDAL_REWARDS: Mapping[Medal, float] = {"gold": 1.0, "silver": 0.7, "bronze": 0.4}


@dataclass(frozen=True)
class EpisodeStanding:
    """Standing of an agent at one point of its episode."""

    submission: str = ""
    """Content identity of the submission."""
    valid: bool = False
    """True if the submission is valid according to public data."""
    reported: float | None = None
    """Last validation score that a script of the agent printed as a metric line; not verified."""
    grade: Grade | None = None
    """Grade of the submission; None where it must not be known yet."""
    beats_sample: bool = False
    """True if the grade is better than that of the sample submission."""
    milestones: frozenset[str] = frozenset()
    """Milestones reached so far."""


@dataclass(frozen=True)
class Transition:
    """One step of an episode, the argument of a reward."""

    before: EpisodeStanding
    after: EpisodeStanding
    action: Action
    observation: Observation
    ended: bool
    higher_is_better: bool
    """Direction of the task's metric."""


Reward = Callable[[Transition], float]


def value(grade: Grade | RunRecord | None) -> float:
    """Return the value of a grade: the percentile in the field as a share, or for a research task the improvement over
    its baseline (1 is 100 percent) if it exceeds the noise. An invalid submission has the lowest value, so that
    submitting never reduces it.
    """
    if grade is None or not grade.valid:
        return 0.0
    if grade.percentile is not None:
        return grade.percentile / 100
    return 0.0 if grade.beyond_noise is False else max(0.0, grade.improvement or 0.0) / 100


def final_value(step: Transition) -> float:
    """Return the final percentile in the field, or improvement over the baseline; 0 before the end."""
    return value(step.after.grade) if step.ended else 0.0


def gain(step: Transition) -> float:
    """Return the change of the value. Over an episode the changes add up to the final value."""
    return value(step.after.grade) - value(step.before.grade)


def medal(step: Transition) -> float:
    """Return 1, 0.7 or 0.4 for a gold, silver or bronze medal at the end."""
    grade = step.after.grade
    return MEDAL_REWARDS[grade.medal] if step.ended and grade is not None and grade.medal else 0.0


MILESTONES: Mapping[str, Callable[[EpisodeStanding], bool]] = {
    "valid": lambda standing: standing.valid,
    "beats_sample": lambda standing: standing.beats_sample,
    "above_median": lambda standing: bool(standing.grade and standing.grade.above_median),
    "success": lambda standing: bool(standing.grade and standing.grade.success),
    "medal": lambda standing: bool(standing.grade and standing.grade.medal),
    "gold": lambda standing: bool(standing.grade and standing.grade.medal == "gold"),
}
"""Milestones by name, in the order in which they are usually reached."""


def milestones(step: Transition) -> float:
    """Return the share of all milestones that the step reached first: valid, better than the sample, ..., gold."""
    return len(step.after.milestones - step.before.milestones) / len(MILESTONES)


def valid_submission(step: Transition) -> float:
    """Return 1 when the submission becomes valid, -1 when it becomes invalid. Uses public data alone."""
    return float(step.after.valid) - float(step.before.valid)


def reported_gain(step: Transition) -> float:
    """Return 1 when a script reports a better validation score than before, -1 for a worse one.

    Uses public data alone. Agents can print any score, so combine it with reliable rewards and keep its weight small.
    """
    before, after = step.before.reported, step.after.reported
    if before is None or after is None or before == after:
        return 0.0
    return 1.0 if (after > before) == step.higher_is_better else -1.0


def weighted(terms: Mapping[Reward, float]) -> Reward:
    """Return the weighted sum of rewards, such as `weighted({final_value: 1.0, milestones: 0.2})`."""

    def total(step: Transition) -> float:
        return sum(weight * reward(step) for reward, weight in terms.items())

    return total
