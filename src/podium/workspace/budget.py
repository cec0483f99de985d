"""What a run may use, and what it has used."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, NonNegativeFloat, NonNegativeInt


class Budget(BaseModel):
    """What an agent may use; None for no limit."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    time_s: float | None = None
    """Working time: all time in which a program runs or a model answers; waiting for leases is not counted."""
    wall_s: float | None = None
    """Time by the clock, everything counted."""
    steps: int | None = None
    tokens: int | None = None
    cost: float | None = None
    """In dollars."""


class Usage(BaseModel):
    """What an agent has used so far, over all attempts at its run."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    working_s: NonNegativeFloat = 0.0
    wall_s: NonNegativeFloat = 0.0
    waited_s: NonNegativeFloat = 0.0
    """For leases, added up over all executions: those that waited side by side count twice."""
    steps: NonNegativeInt = 0
    executions: NonNegativeInt = 0
    tokens: NonNegativeInt = 0
    input_tokens: NonNegativeInt = 0
    output_tokens: NonNegativeInt = 0
    cached_tokens: NonNegativeInt = 0
    cost: NonNegativeFloat | None = 0.0
    """In dollars; None where the price of a model is not known."""

    def exceeded(self, budget: Budget) -> str | None:
        """The part of a budget that is used up, for people."""
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
