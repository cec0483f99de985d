"""Rewards add up, and use private answers only where they may."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from podium.environment.rewards import (
    MEDAL_REWARDS,
    EpisodeStanding,
    Reward,
    Transition,
    final_value,
    gain,
    medal,
    milestones,
    reported_gain,
    valid_submission,
    weighted,
)
from podium.grading.grade import Grade
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import TextResult

NOTHING = EpisodeStanding()
VALID = EpisodeStanding(submission="a", valid=True, reported=0.5, milestones=frozenset({"valid"}))
BRONZE = replace(VALID, grade=Grade("t", "v1", valid=True, score=1.0, percentile=80.0, medal="bronze"))
INVALID = replace(BRONZE, grade=Grade("t", "v1", valid=False, error="no rows"), valid=False)
IMPROVED = replace(VALID, grade=Grade("t", "v1", valid=True, score=1.0, improvement=25.0))

WORSE = replace(VALID, grade=Grade("t", "v1", valid=True, score=1.0, improvement=-25.0))
LUCKY = replace(VALID, grade=Grade("t", "v1", valid=True, score=1.0, improvement=0.1, beyond_noise=False))


def change(before: EpisodeStanding, after: EpisodeStanding, *, ended: bool = False, higher: bool = True) -> Transition:
    return Transition(before, after, Action(name="x"), TextResult(text=""), ended, higher)


@pytest.mark.parametrize(
    ("reward", "step", "expected"),
    [
        (final_value, change(NOTHING, BRONZE), 0.0),
        (final_value, change(NOTHING, BRONZE, ended=True), 0.8),
        (final_value, change(NOTHING, IMPROVED, ended=True), 0.25),
        (final_value, change(NOTHING, WORSE, ended=True), 0.0),
        (final_value, change(NOTHING, LUCKY, ended=True), 0.0),
        (gain, change(NOTHING, BRONZE), 0.8),
        (gain, change(BRONZE, INVALID), -0.8),
        (medal, change(NOTHING, BRONZE), 0.0),
        (medal, change(NOTHING, BRONZE, ended=True), MEDAL_REWARDS["bronze"]),
        (milestones, change(NOTHING, VALID), 1 / 6),
        (milestones, change(VALID, VALID), 0.0),
        (valid_submission, change(NOTHING, VALID), 1.0),
        (valid_submission, change(BRONZE, INVALID), -1.0),
        (reported_gain, change(NOTHING, VALID), 0.0),
        (reported_gain, change(VALID, replace(VALID, reported=0.4)), -1.0),
        (reported_gain, change(VALID, replace(VALID, reported=0.4), higher=False), 1.0),
        (weighted({gain: 1.0, valid_submission: 0.5}), change(NOTHING, BRONZE), 1.3),
    ],
)
def test_reward_of_a_step(reward: Reward, step: Transition, expected: float) -> None:
    assert reward(step) == pytest.approx(expected)


def test_gains_add_up_to_the_final_value() -> None:
    course = [NOTHING, VALID, IMPROVED, INVALID, BRONZE]
    steps = [change(*pair) for pair in pairwise(course)]
    assert sum(map(gain, steps)) == pytest.approx(final_value(change(VALID, BRONZE, ended=True)))


@pytest.mark.parametrize("reward", [valid_submission, reported_gain])
def test_public_shaping_does_not_look_at_grades(reward: Reward) -> None:
    with_grade, without = change(NOTHING, BRONZE), change(NOTHING, replace(BRONZE, grade=None))
    assert reward(with_grade) == reward(without)
