"""Model calls made by actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from podium.actions.action_spec import ActionError
from podium.models.model_requests import generate, model_access
from podium.models.token_limits import ModelUnreachableError
from podium.text import bounded

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage

MAX_BLOCK_CHARACTERS = 10_000
BLOCKS = 10

Role = Literal["edit", "fast"]
DEFAULTS = {"fast": {"temperature": 0.01}}
"""Default settings per role, as in MLAgentBench."""


async def ask(role: Role, messages: str | Sequence[ChatMessage]) -> str:
    """Return the answer of the model assigned to a role, or of the main model.

    Raises:
        ActionError: the model gave no answer.
    """
    from inspect_ai.model import ChatMessageUser, get_model

    access = model_access()
    config = access.config(role, **DEFAULTS.get(role, {}))
    asked = [ChatMessageUser(content=messages)] if isinstance(messages, str) else messages
    try:
        output = await generate(get_model(role=role), asked, config, retries=access.retries)
    except ModelUnreachableError as error:  # the agent can go on without the answer
        raise ActionError(f"The '{role}' model could not answer. {error}") from error
    if output.error or not output.completion.strip():
        reason = output.error or f"its answer was empty ({output.stop_reason})"
        raise ActionError(f"The '{role}' model could not answer: {bounded(reason, 500)}.")
    return output.completion


async def ask_about(blocks: Sequence[str], *, name: str, question: str) -> str:
    """Ask the fast model about a text, block by block; another call merges the answers."""
    answers = [
        await ask("fast", _block_prompt(block, name=name, part=f"{number} of {len(blocks)}", question=question))
        for number, block in enumerate(blocks, start=1)
    ]
    return answers[0] if len(answers) == 1 else await ask("fast", _merge_prompt(answers, name=name, question=question))


def split_blocks(text: str, size: int = MAX_BLOCK_CHARACTERS) -> list[str]:
    """Split a text at line ends into blocks shorter than `size`; only a longer line is split itself."""
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

Answer from this part alone. Quote the lines that support your answer. State only what this part shows, and say so where
it does not answer the question. Include everything that is relevant to the question.

===== part {part} of {name} =====
{block}
===== end of part {part} ====="""


def _merge_prompt(answers: Sequence[str], *, name: str, question: str) -> str:
    parts = "\n\n".join(f"===== about part {number} =====\n{text}" for number, text in enumerate(answers, start=1))
    return f"""This question was asked about {name}:

{question}

Each part was read separately. Merge the answers below into one: keep every fact and every quoted line that is relevant
to the question, avoid repetition, and point out contradictions. Add nothing of your own.

{parts}"""
