"""Usage meter: Inspect's counts for this attempt, added to the journalled usage of earlier attempts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from inspect_ai.util import sample_limits

from podium.inspect_internals import sample_model_usage
from podium.workspace.budget import Usage

if TYPE_CHECKING:
    from inspect_ai.model import ModelUsage


class Meter:
    """Counts usage from its creation inside an Inspect sample."""

    def __init__(self, before: Usage) -> None:
        self._before = before
        self._started = time.monotonic()
        self._worked = sample_limits().working.usage
        self._steps = self._executions = 0
        self._waited_s = 0.0

    def add_step(self) -> None:
        self._steps += 1

    def add_execution(self, *, waited_s: float) -> None:
        self._executions += 1
        self._waited_s += waited_s

    def add_waiting(self, waited_s: float) -> None:
        self._waited_s += waited_s

    def usage(self) -> Usage:
        before = self._before
        models = list(sample_model_usage().values())
        return Usage(
            working_s=before.working_s + sample_limits().working.usage - self._worked,
            wall_s=before.wall_s + time.monotonic() - self._started,
            waited_s=before.waited_s + self._waited_s,
            steps=before.steps + self._steps,
            executions=before.executions + self._executions,
            tokens=before.tokens + sum(usage.total_tokens for usage in models),
            input_tokens=before.input_tokens + sum(usage.input_tokens for usage in models),
            output_tokens=before.output_tokens + sum(usage.output_tokens for usage in models),
            cached_tokens=before.cached_tokens + sum(usage.input_tokens_cache_read or 0 for usage in models),
            cost=_cost(before.cost, models),
        )


def _cost(before: float | None, models: Sequence[ModelUsage]) -> float | None:
    """Return the total cost, or None if the price of a used model is unknown."""
    used = [usage.total_cost for usage in models if usage.total_tokens]
    known = [cost for cost in (before, *used) if cost is not None]
    return sum(known) if len(known) == len(used) + 1 else None
