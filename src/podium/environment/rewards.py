"""Rewards: functions of what a step changed, to be combined as a training run wants them.

The private answers are known to a reward only where `Standing.grade` is: at the end of an episode, and after every step
of a training task. A reward that looks at nothing else than `valid` and `reported` uses public data alone.
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
    """How an agent stands at a moment of its episode."""

    submission: str = ""
    """Identity of what is submitted: the same content has the same."""
    valid: bool = False
    """Whether that has the right form, as far as public data tells."""
    reported: float | None = None
    """The last validation score that a script of the agent's printed as a metric line; nobody has checked it."""
    grade: Grade | None = None
    """None where it must not be known yet."""
    beats_sample: bool = False
    """Whether the grade is better than that of the sample submission."""
    milestones: frozenset[str] = frozenset()
    """Those reached so far."""


@dataclass(frozen=True)
class Transition:
    """One step of an episode, as a reward sees it."""

    before: EpisodeStanding
    after: EpisodeStanding
    action: Action
    observation: Observation
    ended: bool
    higher_is_better: bool
    """The direction of the task's metric."""


Reward = Callable[[Transition], float]


def value(grade: Grade | RunRecord | None) -> float:
    """What a grade is worth, as far as it is known: percentile in the field between 0 and 1, or for a research task
    the improvement over its baseline (1 is 100 percent), if there is one beyond noise. Nothing is worth less than an
    invalid submission, so that none is left out for fear of a bad one."""
    if grade is None or not grade.valid:
        return 0.0
    if grade.percentile is not None:
        return grade.percentile / 100
    return 0.0 if grade.beyond_noise is False else max(0.0, grade.improvement or 0.0) / 100


def final_value(step: Transition) -> float:
    """The final percentile in the field, or improvement over the baseline; nothing before the end."""
    return value(step.after.grade) if step.ended else 0.0


def gain(step: Transition) -> float:
    """The change of that value. Adds up to the final value over an episode, whenever the grade becomes known."""
    return value(step.after.grade) - value(step.before.grade)


def medal(step: Transition) -> float:
    """1, 0.7 or 0.4 for a gold, silver or bronze medal at the end."""
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
"""By name, in the order in which they are usually reached."""


def milestones(step: Transition) -> float:
    """The share of all milestones that were reached for the first time: valid, better than the sample, ..., gold."""
    return len(step.after.milestones - step.before.milestones) / len(MILESTONES)


def valid_submission(step: Transition) -> float:
    """1 when the submission becomes valid, -1 when it stops being so. Uses public data alone."""
    return float(step.after.valid) - float(step.before.valid)


def reported_gain(step: Transition) -> float:
    """1 when a script reports a better validation score than before, -1 for a worse one. Uses public data alone.

    An agent can print what it likes: combine it with rewards that cannot be fooled, and keep its weight small.
    """
    before, after = step.before.reported, step.after.reported
    if before is None or after is None or before == after:
        return 0.0
    return 1.0 if (after > before) == step.higher_is_better else -1.0


def weighted(terms: Mapping[Reward, float]) -> Reward:
    """The sum of rewards, each times its weight: `weighted({final_value: 1.0, milestones: 0.2})`."""

    def total(step: Transition) -> float:
        return sum(weight * reward(step) for reward, weight in terms.items())

    return total
