"""What the research agent remembers: its last steps in full, its plan, and a log of everything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from podium.agents.base import State


@dataclass(frozen=True)
class LogEntry:
    """One of the entries that a researcher writes before it acts."""

    name: str
    title: str
    purpose: str


ENTRIES = (
    LogEntry(
        "reflection",
        "Reflection",
        "What does the last observation mean? If something failed, what is the likely cause, and how can it be fixed?",
    ),
    LogEntry(
        "plan",
        "Research Plan and Status",
        "The whole plan, with the state of each part and short results: done, in progress, to do. Carry it over from "
        "step to step and keep it up to date; put **double asterisks** around what is new. Only what an observation "
        "has confirmed counts as done, and numbers come from programs that ran.",
    ),
    LogEntry(
        "fact_check",
        "Fact Check",
        "Go through the statements that are new in the plan and say of each whether the last observation shows it, "
        "with the place that does, or whether it is a guess.",
    ),
    LogEntry("thought", "Thought", "What are you going to do now, why, and which action does it?"),
)
"""In the order in which they are written; an action and its input follow."""


class ResearchStep(BaseModel):
    """What the agent wrote, did and saw."""

    model_config = ConfigDict(frozen=True)

    number: int
    entries: dict[str, str]
    """By the names of ENTRIES."""
    action: str
    input: dict[str, Any]
    observation: str = ""
    is_condensed: bool = False
    """Whether the observation is a summary by now."""


class ResearchState(State):
    """All that is needed to go on."""

    steps: list[ResearchStep] = Field(default_factory=list)
    """The last ones; the newest lacks its observation while it is carried out."""
    done: int = 0
    """How many steps have been carried out."""
    plan: str = ""
    log: list[str] = Field(default_factory=list)
    """A summary of each step, oldest first."""
    is_over: bool = False
