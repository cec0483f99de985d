"""What actions have to work with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from podium.actions.program_runner import RunProgram, run_in_sandbox
from podium.sandbox.spec import HOME

Person = Callable[[str], Awaitable[str]]
"""Somebody who answers a request, in words."""
CheckSubmission = Callable[[str], Awaitable[str | None]]
"""What is wrong with the submission at a path of the workspace; None if its form is right."""


class HeldOutRows(Protocol):
    """Scores what scripts predict for rows whose labels were set aside."""

    async def take(self, folder: str) -> tuple[float | None, float | None]:
        """The scores, for the search and for the final choice, of the submission in a folder of the workspace.

        The submission there is left with the test rows alone; all predictions stay beside it.
        """
        ...

    async def submit_ensemble(self, folders: Sequence[str]) -> str:
        """Submits a blend of what scripts predicted in their folders, weighted on the rows for the final choice.

        Raises:
            ValueError: nothing can be blended.
        """
        ...


@dataclass(frozen=True)
class ActionContext:
    """The workspace, and what a run provides. By default the sandbox of the current Inspect sample, without a run."""

    root: str = HOME
    """The workspace as programs see it: paths are relative to it and cannot leave it."""
    linked: tuple[str, ...] = ()
    """Where links of the workspace lead to what would be mounted if there were a sandbox: to be read, not written."""
    python: str = "python"
    """The interpreter that runs scripts."""
    run_program: RunProgram = run_in_sandbox
    check_submission: CheckSubmission | None = None
    """None: there is no task, and the actions that check submissions are not offered."""
    person: Person | None = None
    """None: nobody can be asked for help."""
    held_out: HeldOutRows | None = None
    """Rows that were set aside for scoring scripts; None where there are none."""
    problem: str = ""
    """What the agent was asked to do, for the actions that look back at its research."""
    seed: int = 0
    remaining_s: Callable[[], float | None] = lambda: None
    """Seconds of working time that are left; None if there is no limit."""
