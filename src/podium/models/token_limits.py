"""Token limits of models: context window and answer length, learned from answers and errors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from podium.errors import PodiumError
from podium.models.provider_errors import ModelFailure
from podium.text import bounded

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage
    from inspect_ai.tool import ToolInfo

MIN_WINDOW_TOKENS = 4_000
"""Minimum context window in tokens: less does not hold a task description and a script."""
PROMPT_SHARE = 0.6
"""Share of the context window kept for the prompt if the answer asks for more than the rest."""
MARGIN_TOKENS = 64
CHARACTERS_PER_TOKEN = 3.0
"""Cautious estimate for the first request; code and numbers have fewer characters per token than prose."""
MAX_GROWTH = 4
"""Maximum factor by which the answer limit grows after truncated answers."""
MIN_CUT_CHARACTERS = 600
"""Texts shorter than this number of characters are not cut."""


class ModelUnreachableError(PodiumError):
    """A model request that failed for good."""


class WindowTooSmallError(ModelUnreachableError):
    """A context window too small for the prompt."""


@dataclass
class ModelLimits:
    """Known limits of one model."""

    name: str
    window: int | None = None
    """Context window: tokens of prompt and answer together."""
    answer: int | None = None
    """Maximum answer length in tokens."""
    characters_per_token: float = CHARACTERS_PER_TOKEN
    growth: int = 1
    refused: set[str] = field(default_factory=set)
    """Settings that the model rejects."""

    def check(self) -> None:
        """Raise an error if the context window is too small for any agent.

        Raises:
            WindowTooSmallError: it is too small.
        """
        if self.window is not None and self.window < MIN_WINDOW_TOKENS:
            raise WindowTooSmallError(
                f"The context window of {self.name} is {self.window:,} tokens, but agents need {MIN_WINDOW_TOKENS:,}. "
                "Serve it with a larger one (llama.cpp: -c 8192, vLLM: --max-model-len 8192), or use another model"
            )

    def prompt_characters(self, requested: int) -> int | None:
        """Return the maximum prompt length that leaves `requested` tokens for the answer; None if unknown."""
        if self.window is None:
            return None
        tokens = max(self.window - requested, int(PROMPT_SHARE * self.window)) - MARGIN_TOKENS
        return int(tokens * self.characters_per_token)

    def answer_tokens(self, requested: int, prompt_characters: int) -> int:
        """Return the maximum length of the answer in tokens."""
        tokens = requested * self.growth
        if self.window is not None:
            left = self.window - int(prompt_characters / self.characters_per_token) - MARGIN_TOKENS
            tokens = min(tokens, max(left, 256))
        return tokens if self.answer is None else min(tokens, self.answer)

    def learn(self, failure: ModelFailure, *, sent: int, requested: int) -> str:
        """Update the limits from a failed request and return a note on the change.

        Args:
            sent: characters in the prompt.
            requested: tokens requested for the answer.
        """
        if failure.setting:
            self.refused.add(failure.setting)
            return f"{self.name} does not support {failure.setting}, which is omitted"
        if failure.kind == "answer":
            self.answer = failure.answer_tokens
            return f"answers of {self.name} are limited to {self.answer:,} tokens"
        if failure.prompt_tokens:
            self.characters_per_token = _plausible(sent / failure.prompt_tokens)
        if failure.window and failure.window != self.window:
            self.window = failure.window
        elif self.window is None:
            self.window = max(MIN_WINDOW_TOKENS, (int(sent / self.characters_per_token) + requested) // 2)
        elif not failure.window:
            self.window = int(0.75 * self.window)
        else:
            self.characters_per_token *= 0.75  # the window is known, so tokens have fewer characters than estimated
        return f"prompts for {self.name} are limited to its context window of {self.window:,} tokens"

    def observe(self, *, sent: int, prompt_tokens: int, is_cut_off: bool) -> None:
        """Update the characters per token and the answer limit from an answer."""
        if prompt_tokens:
            self.characters_per_token = _plausible(sent / prompt_tokens)
        self.growth = min(MAX_GROWTH, 2 * self.growth) if is_cut_off else self.growth


def _plausible(characters_per_token: float) -> float:
    """Return slightly less than the measured value, because texts differ."""
    return min(4.5, max(1.0, 0.95 * characters_per_token))


def prompt_size(messages: Sequence[ChatMessage], tools: Sequence[ToolInfo] = ()) -> int:
    """Return the number of characters sent, tools included."""
    described = sum(len(tool.model_dump_json(exclude_none=True)) for tool in tools)
    return described + sum(_length(message) for message in messages)


def _length(message: ChatMessage) -> int:
    calls = (message.tool_calls or []) if message.role == "assistant" else []
    return len(message.text) + sum(len(json.dumps(call.arguments)) for call in calls) + 20


def shortened(messages: Sequence[ChatMessage], limit: int) -> list[ChatMessage]:
    """Return the messages with the middle cut out of the longest ones until they fit, if possible."""
    kept = list(messages)
    while prompt_size(kept) > limit:
        place = max(range(len(kept)), key=lambda place: len(kept[place].text))
        text = kept[place].text
        if len(text) < MIN_CUT_CHARACTERS:
            break
        surplus = prompt_size(kept) - limit
        shorter = bounded(text, max(MIN_CUT_CHARACTERS // 2, len(text) - surplus - 100, len(text) // 2))
        if len(shorter) >= len(text):
            break
        kept[place] = kept[place].model_copy(update={"content": shorter})
    return kept
