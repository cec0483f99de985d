"""Calls of a model from within an action."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from podium.actions.action_spec import ActionError
from podium.models.model_requests import generate, model_access
from podium.models.token_limits import ModelUnreachableError
from podium.text import bounded

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage

BLOCK_CHARACTERS = 10_000
BLOCKS = 10

Role = Literal["edit", "fast"]
DEFAULTS = {"fast": {"temperature": 0.01}}
"""As in MLAgentBench."""


async def ask(role: Role, messages: str | Sequence[ChatMessage]) -> str:
    """The answer of the model that has a role, or of the main model.

    Raises:
        ActionError: it gave none.
    """
    from inspect_ai.model import ChatMessageUser, get_model

    access = model_access()
    config = access.config(role, **DEFAULTS.get(role, {}))
    asked = [ChatMessageUser(content=messages)] if isinstance(messages, str) else messages
    try:
        output = await generate(get_model(role=role), asked, config, retries=access.retries)
    except ModelUnreachableError as error:  # the agent can go on without the answer
        raise ActionError(f"The model that does this ({role}) could not answer. {error}") from error
    if output.error or not output.completion.strip():
        reason = output.error or f"its answer was empty ({output.stop_reason})"
        raise ActionError(f"The model that does this ({role}) could not answer: {bounded(reason, 500)}.")
    return output.completion


async def ask_about(blocks: Sequence[str], *, name: str, question: str) -> str:
    """What the fast model says about a text, read block by block; several answers are merged by another call."""
    answers = [
        await ask("fast", _block_prompt(block, name=name, part=f"{number} of {len(blocks)}", question=question))
        for number, block in enumerate(blocks, start=1)
    ]
    return answers[0] if len(answers) == 1 else await ask("fast", _merge_prompt(answers, name=name, question=question))


def split_blocks(text: str, size: int = BLOCK_CHARACTERS) -> list[str]:
    """The text in blocks shorter than `size`, cut at line ends; only a line that is longer itself is cut inside."""
    blocks, block = [], ""
    for line in text.splitlines(keepends=True):
        while len(block) + len(line) >= size:
            if block:
                blocks.append(block)
                block = ""
            else:
                blocks.append(line[: size - 1])
                line = line[size - 1 :]
        block += line
    return [*blocks, block] if block or not blocks else blocks


def _block_prompt(block: str, *, name: str, part: str, question: str) -> str:
    return f"""Below is part {part} of {name}. A colleague who cannot see it asks:

{question}

Answer from this part alone. Quote the lines your answer rests on. State only what the part shows; where it does not
say, write that it does not. Leave out nothing that bears on the question.

===== part {part} of {name} =====
{block}
===== end of part {part} ====="""


def _merge_prompt(answers: Sequence[str], *, name: str, question: str) -> str:
    parts = "\n\n".join(f"===== about part {number} =====\n{text}" for number, text in enumerate(answers, start=1))
    return f"""Somebody asked about {name}:

{question}

It was read part by part. Merge the answers below into one: keep every fact and every quoted line that bears on the
question, say a thing once, and name contradictions. Add nothing of your own.

{parts}"""
