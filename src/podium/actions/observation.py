"""Every action answers with text, within bounds; what goes wrong is an answer too."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec

from podium.errors import PodiumError

OBSERVATION_CHARACTERS = 20_000

P = ParamSpec("P")


class ActionError(PodiumError):
    """An action cannot be done; its message is what the agent observes."""


def observed(act: Callable[P, Coroutine[Any, Any, str]]) -> Callable[P, Coroutine[Any, Any, str]]:
    """The action with its failures turned into observations, and all observations bounded.

    What is no fault of the action goes on as an exception: a limit of the run, cancellation, a sandbox that is gone.
    """

    @functools.wraps(act)
    async def observe(*args: P.args, **kwargs: P.kwargs) -> str:
        try:
            _check_text(*args, *kwargs.values())
            observation = await act(*args, **kwargs)
        except ActionError as error:
            observation = str(error)
        return bounded(observation.encode("utf-8", "replace").decode("utf-8"))

    return observe


def bounded(text: str, limit: int = OBSERVATION_CHARACTERS) -> str:
    """The text, or its beginning and end around a line that counts what was left out."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half:,} characters left out ...]\n{text[-half:]}"


def _check_text(*arguments: object) -> None:
    for argument in arguments:
        try:
            str(argument).encode("utf-8")
        except UnicodeEncodeError as error:
            raise ActionError(
                f"An argument holds half of a character (a lone surrogate) at position {error.start}: write it whole."
            ) from error
