"""Budget of a run and its usage so far."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, NonNegativeFloat, NonNegativeInt


class Budget(BaseModel):
    """Limits of an agent; None means unlimited."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    time_s: float | None = None
    """Working time: time in which programs run or models answer, without waiting for leases."""
    wall_s: float | None = None
    """Wall-clock time."""
    steps: int | None = None
    tokens: int | None = None
    cost: float | None = None
    """Cost in dollars."""


class Usage(BaseModel):
    """Usage of an agent so far, over all attempts of its run."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    working_s: NonNegativeFloat = 0.0
    wall_s: NonNegativeFloat = 0.0
    waited_s: NonNegativeFloat = 0.0
    """Time spent waiting for leases, summed over executions: parallel waits count separately."""
    steps: NonNegativeInt = 0
    executions: NonNegativeInt = 0
    tokens: NonNegativeInt = 0
    input_tokens: NonNegativeInt = 0
    output_tokens: NonNegativeInt = 0
    cached_tokens: NonNegativeInt = 0
    cost: NonNegativeFloat | None = 0.0
    """Cost in dollars; None if the price of a model is unknown."""

    def exceeded(self, budget: Budget) -> str | None:
        """Return the first part of the budget that is used up, by its display name, or None."""
        parts = (
            (self.working_s, budget.time_s, "working time"),
            (self.wall_s, budget.wall_s, "time"),
            (self.steps, budget.steps, "steps"),
            (self.tokens, budget.tokens, "tokens"),
            (self.cost, budget.cost, "cost"),
        )
        return next(
            (name for used, limit, name in parts if used is not None and limit is not None and used >= limit), None
        )
