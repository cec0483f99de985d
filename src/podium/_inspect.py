"""What Podium uses of the private parts of Inspect AI: nothing else in Podium imports `inspect_ai._*` or the like.

Everything is imported where it is needed, because Inspect takes seconds to import.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspect_ai.model import ModelUsage

IMPORTED_LATE = ("inspect_ai.agent._acp.server", "inspect_ai.model._openai", "inspect_ai.model._providers.none")
"""Modules that Inspect imports only in the middle of an evaluation."""


def prerequisite_error(message: str) -> Exception:
    """An error that Inspect shows to its user as one sentence, without a traceback."""
    from inspect_ai._util.error import PrerequisiteError

    return PrerequisiteError(message)


def sample_model_usage() -> dict[str, ModelUsage]:
    """What the models of the current sample have used so far, by their names."""
    from inspect_ai.model._model import sample_model_usage

    return sample_model_usage()


def computing() -> AbstractContextManager[None]:
    """While the block runs the sample is working, whatever else in it waits."""
    from inspect_ai._util.working import known_work

    return known_work()


class ModelBridge:
    """Answers requests in the protocols of OpenAI and Anthropic with the model of the current sample."""

    def __init__(self) -> None:
        from inspect_ai.agent import AgentState
        from inspect_ai.agent._bridge.types import AgentBridge

        self._bridge = AgentBridge(AgentState(messages=[]), forward_generation_config=True)

    async def completions(self, document: dict[str, Any]) -> Any:
        """The answer to a request of OpenAI's Chat Completions."""
        from inspect_ai.agent._bridge.completions import inspect_completions_api_request

        return await inspect_completions_api_request(document, None, self._bridge)

    async def responses(self, document: dict[str, Any]) -> Any:
        """The answer to a request of OpenAI's Responses."""
        from inspect_ai.agent._bridge.responses import inspect_responses_api_request

        return await inspect_responses_api_request(document, None, None, None, self._bridge)

    async def messages(self, document: dict[str, Any]) -> Any:
        """The answer to a request of Anthropic's Messages."""
        from inspect_ai.agent._bridge.anthropic_api import inspect_anthropic_api_request

        return await inspect_anthropic_api_request(document, None, None, None, self._bridge)
