"""Context of an action: the workspace and the services a run provides."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from podium.actions.program_runner import RunProgram, run_in_sandbox
from podium.sandbox.spec import HOME

Person = Callable[[str], Awaitable[str]]
"""Callback that puts a request to a person and returns the answer."""
CheckSubmission = Callable[[str], Awaitable[str | None]]
"""Callback that checks the submission at a workspace path: returns the problem, or None if its format is valid."""


class HeldOutScorer(Protocol):
    """Scorer of a script's predictions for rows whose labels were held out."""

    async def take(self, folder: str) -> tuple[float | None, float | None]:
        """Return the search and selection scores of the submission in a workspace folder.

        The file is reduced to the test rows; all predictions are kept next to it.
        """
        ...

    async def submit_ensemble(self, folders: Sequence[str]) -> str:
        """Submit a blend of the predictions in several folders, weighted on the rows held out for selection.

        Raises:
            ValueError: there is nothing to blend.
        """
        ...


@dataclass(frozen=True)
class ActionContext:
    """Workspace and services for actions; by default the sandbox of the current Inspect sample, without a run."""

    root: str = HOME
    """Workspace as programs see it: paths are relative to it and cannot leave it."""
    linked: tuple[str, ...] = ()
    """Targets of workspace links that replace mounts when there is no sandbox. Readable, not writable."""
    python: str = "python"
    """Python interpreter that runs scripts."""
    run_program: RunProgram = run_in_sandbox
    check_submission: CheckSubmission | None = None
    """None without a task: actions that check submissions are then unavailable."""
    person: Person | None = None
    """None without an operator who can be asked for help."""
    held_out: HeldOutScorer | None = None
    """Scorer on held-out rows; None without any."""
    problem: str = ""
    """Research problem of the agent, for the actions that review its work."""
    seed: int = 0
    remaining_s: Callable[[], float | None] = lambda: None
    """Function that returns the remaining working time in seconds; None without a limit."""
