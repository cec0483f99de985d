"""What agents that talk to a model share: asking it, the brief, and what is left of the budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from podium.actions.text import bounded, valid_unicode
from podium.agents.base import Assignment, Options, Remaining
from podium.errors import PodiumError
from podium.text import format_duration, plural
from podium.workspace.events import Action

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, Model, ModelOutput
    from inspect_ai.tool import ToolFunction, ToolInfo

BRIEF_CHARACTERS = 30_000
CHARACTERS_PER_TOKEN = 3
"""A cautious guess: code and numbers have fewer characters per token than prose."""
ROLES = {"main": "decides what to do", "fast": "summarises and reads files", "edit": "rewrites scripts"}
"""Of agents that use all actions: some of these ask models in roles of their own."""


class ModelOptions(Options):
    """What every agent with a model can be told."""

    attempts: int = Field(5, ge=1, description="Useless answers, one after the other, before the agent gives up.")
    max_tokens: int = Field(4_096, ge=100, description="Longest answer.")
    retries: int = Field(8, ge=0, description="Times a request is repeated when the model cannot be reached.")
    answer_time: int = Field(900, ge=1, description="Seconds one request may take.")


class ModelUnreachableError(PodiumError):
    """A model gave no answer, whatever was tried."""


async def ask_model(
    messages: Sequence[ChatMessage],
    options: ModelOptions,
    *,
    model: Model | None = None,
    tools: Sequence[ToolInfo] = (),
    tool_choice: ToolFunction | None = None,
    temperature: float | None = None,
) -> ModelOutput:
    """The answer of a model, by default the main one.

    Raises:
        ModelUnreachableError: there was none.
    """
    from inspect_ai.model import GenerateConfig, get_model
    from inspect_ai.util import LimitExceededError
    from tenacity import RetryError

    asked = model or get_model(role="main")
    config = GenerateConfig(
        max_tokens=options.max_tokens,
        temperature=temperature,
        max_retries=options.retries,
        attempt_timeout=options.answer_time,
    )
    try:
        output = await asked.generate(list(messages), tools=list(tools), tool_choice=tool_choice, config=config)
    except LimitExceededError:
        raise
    except Exception as error:  # providers raise what they like
        cause = error.last_attempt.exception() if isinstance(error, RetryError) else error
        raise ModelUnreachableError(
            f"The model {asked.name} gave no answer, with {options.retries} retries. "
            f"{type(cause).__name__}: {str(cause)[:500]}. "
            "Nothing is lost: repeat the command with --retry and the run goes on from here"
        ) from error
    output.completion = valid_unicode(output.completion)
    for choice in output.choices:
        choice.message = type(choice.message).model_validate(valid_unicode(choice.message.model_dump()))
    return output


def brief(assignment: Assignment) -> str:
    """The instructions and the task's description."""
    description = (assignment.public / "description.md").read_text(encoding="utf-8", errors="replace")
    return (
        f"{assignment.instructions.strip()}\n\n"
        f"THE DESCRIPTION OF THE TASK (data/description.md)\n{bounded(description.strip(), BRIEF_CHARACTERS)}"
    )


def budget_line(remaining: Remaining) -> str:
    """What is left, for a prompt."""
    parts = [
        "" if remaining.time_s is None else f"{format_duration(remaining.time_s)} of working time",
        "" if remaining.steps is None else plural(remaining.steps, "step"),
        "" if remaining.tokens is None else f"{remaining.tokens:,} tokens",
    ]
    left = ", ".join(part for part in parts if part)
    return f"Left: {left}." if left else "There is no limit on time or steps."


def end_of_run(reason: str) -> list[Action]:
    """The last step of an agent that gives up, so that the journal says why."""
    return [Action(name="final_answer", arguments={"final_answer": reason})]
