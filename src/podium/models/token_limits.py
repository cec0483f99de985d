"""How much a model takes and gives, in tokens as its provider counts them: learnt from answers and from refusals."""

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

LEAST_WINDOW = 4_000
"""With a smaller one no agent of ours can show a task and read a script."""
PROMPT_SHARE = 0.6
"""Of a window, for the prompt, where the answer wants more than the rest."""
MARGIN_TOKENS = 64
CHARACTERS_PER_TOKEN = 3.0
"""A cautious guess until an answer tells: code and numbers have fewer characters per token than prose."""
GROWTH = 4
"""An answer that was cut off may have more room next time, up to so many times what was asked for."""
SHORTEST_CUT = 600
"""Shorter texts are left whole."""


class ModelUnreachableError(PodiumError):
    """A model gave no answer, whatever was tried."""


class WindowTooSmallError(ModelUnreachableError):
    """A model's window does not hold what an agent has to show it."""


@dataclass
class ModelLimits:
    """What is known about one model."""

    name: str
    window: int | None = None
    """Tokens of a prompt and its answer together."""
    answer: int | None = None
    """Tokens of the longest answer that its provider allows."""
    characters_per_token: float = CHARACTERS_PER_TOKEN
    growth: int = 1
    refused: set[str] = field(default_factory=set)
    """Settings that the model does not take."""

    def check(self) -> None:
        """Refuses a window that no agent can work with.

        Raises:
            WindowTooSmallError: it is that small.
        """
        if self.window is not None and self.window < LEAST_WINDOW:
            raise WindowTooSmallError(
                f"The window of {self.name} holds {self.window:,} tokens, and agents need {LEAST_WINDOW:,} at least. "
                "Serve the model with a larger one (llama.cpp: -c 8192, vLLM: --max-model-len 8192), or use another"
            )

    def prompt_characters(self, wanted: int) -> int | None:
        """How long a prompt may be, if it is to be answered in up to `wanted` tokens; None where nothing is known."""
        if self.window is None:
            return None
        tokens = max(self.window - wanted, int(PROMPT_SHARE * self.window)) - MARGIN_TOKENS
        return int(tokens * self.characters_per_token)

    def answer_tokens(self, wanted: int, prompt_characters: int) -> int:
        """How long the answer to a prompt may be."""
        tokens = wanted * self.growth
        if self.window is not None:
            left = self.window - int(prompt_characters / self.characters_per_token) - MARGIN_TOKENS
            tokens = min(tokens, max(left, 256))
        return tokens if self.answer is None else min(tokens, self.answer)

    def learn(self, failure: ModelFailure, *, sent: int, wanted: int) -> str:
        """Takes in why a request was refused; what has changed, in words.

        Args:
            sent: characters of the prompt.
            wanted: tokens of the answer that was asked for.
        """
        if failure.setting:
            self.refused.add(failure.setting)
            return f"{self.name} does not take {failure.setting}, which is left out"
        if failure.kind == "answer":
            self.answer = failure.answer_tokens
            return f"answers of {self.name} have {self.answer:,} tokens at most"
        if failure.prompt_tokens:
            self.characters_per_token = _plausible(sent / failure.prompt_tokens)
        if failure.window and failure.window != self.window:
            self.window = failure.window
        elif self.window is None:
            self.window = max(LEAST_WINDOW, (int(sent / self.characters_per_token) + wanted) // 2)
        elif not failure.window:
            self.window = int(0.75 * self.window)
        else:
            self.characters_per_token *= 0.75  # the window is known: tokens are shorter than was thought
        return f"prompts of {self.name} are kept within its window of {self.window:,} tokens"

    def observe(self, *, sent: int, prompt_tokens: int, is_cut_off: bool) -> None:
        """Takes in what an answer tells: how long tokens are, and whether there was room enough."""
        if prompt_tokens:
            self.characters_per_token = _plausible(sent / prompt_tokens)
        self.growth = min(GROWTH, 2 * self.growth) if is_cut_off else self.growth


def _plausible(characters_per_token: float) -> float:
    """A little less than was measured, because texts differ."""
    return min(4.5, max(1.0, 0.95 * characters_per_token))


def size_of(messages: Sequence[ChatMessage], tools: Sequence[ToolInfo] = ()) -> int:
    """Characters of what is sent, tools included."""
    described = sum(len(tool.model_dump_json(exclude_none=True)) for tool in tools)
    return described + sum(_length(message) for message in messages)


def _length(message: ChatMessage) -> int:
    calls = (message.tool_calls or []) if message.role == "assistant" else []
    return len(message.text) + sum(len(json.dumps(call.arguments)) for call in calls) + 20


def shortened(messages: Sequence[ChatMessage], limit: int) -> list[ChatMessage]:
    """The messages with the middle cut out of the longest until all fit, as far as that can be done."""
    kept = list(messages)
    while size_of(kept) > limit:
        place = max(range(len(kept)), key=lambda place: len(kept[place].text))
        text = kept[place].text
        if len(text) < SHORTEST_CUT:
            break
        surplus = size_of(kept) - limit
        shorter = bounded(text, max(SHORTEST_CUT // 2, len(text) - surplus - 100, len(text) // 2))
        if len(shorter) >= len(text):
            break
        kept[place] = kept[place].model_copy(update={"content": shorter})
    return kept
