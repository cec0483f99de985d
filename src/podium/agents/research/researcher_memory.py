"""Memory of the research agent: its last steps in full, its plan, and a log of all steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from podium.agents.base import State


@dataclass(frozen=True)
class LogEntry:
    """Entry that a researcher writes before each action."""

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
        "The complete plan, with the status of each part (done, in progress, to do) and short results. Repeat it in "
        "every step and keep it up to date; put **double asterisks** around new parts. Mark a part as done only if an "
        "observation confirms it, and take numbers only from program output.",
    ),
    LogEntry(
        "fact_check",
        "Fact Check",
        "List the new statements in the plan. For each, state whether the last observation confirms it, and quote the "
        "evidence, or whether it is a guess.",
    ),
    LogEntry("thought", "Thought", "What will you do next, why, and with which action?"),
)
"""Entries in the order in which they are written; an action and its input follow."""


class ResearchStep(BaseModel):
    """One step: the entries, the action and its observation."""

    model_config = ConfigDict(frozen=True)

    number: int
    entries: dict[str, str]
    """Texts by the names of ENTRIES."""
    action: str
    input: dict[str, Any]
    observation: str = ""
    is_condensed: bool = False
    """True if the observation was replaced by a summary."""


class ResearchState(State):
    """Saved state of the research agent."""

    steps: list[ResearchStep] = Field(default_factory=list)
    """Most recent steps. The newest has no observation while it is performed."""
    done: int = 0
    """Number of completed steps."""
    plan: str = ""
    log: list[str] = Field(default_factory=list)
    """Summaries of all steps, oldest first."""
    is_over: bool = False
