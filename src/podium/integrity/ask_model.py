"""Questions to a model through Inspect."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from podium.errors import PodiumError

Ask = Callable[[str], str]
"""Function from a question to a model's answer."""


def ask_through_inspect(model_name: str, base_url: str | None = None) -> Ask:
    """Return a function that queries a model at temperature 0.

    Raises:
        PodiumError: from the returned function, if the model does not answer.
    """
    from inspect_ai.model import GenerateConfig, get_model

    from podium.inspect_internals import failure_of

    async def generate(question: str) -> str:
        async with get_model(model_name, base_url=base_url, memoize=False) as model:
            config = GenerateConfig(temperature=0.0, max_tokens=2_000, max_retries=3)
            return (await model.generate(question, config=config)).completion

    def ask(question: str) -> str:
        try:
            return asyncio.run(generate(question))
        except Exception as error:  # providers raise what they like
            raise PodiumError(f"The model {model_name} does not answer: {failure_of(error)[1][:300]}") from error

    return ask
