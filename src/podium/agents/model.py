"""What agents that talk to a model share: asking it, the brief, and what is left of the budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import Field

from podium.agents.base import Assignment, Options, Remaining
from podium.errors import PodiumError, UsageError
from podium.text import format_duration, plural
from podium.workspace.events import Action

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
    from inspect_ai.tool import ToolFunction, ToolInfo

    from podium.actions import Usage

BRIEF_CHARACTERS = 30_000
CHARACTERS_PER_TOKEN = 3
"""A cautious guess: code and numbers have fewer characters per token than prose."""


class TalkOptions(Options):
    attempts: int = Field(5, ge=1, description="Useless answers, one after the other, before the agent gives up.")
    max_tokens: int = Field(4_096, ge=100, description="Longest answer.")
    retries: int = Field(8, ge=0, description="Times a request is repeated when the model cannot be reached.")
    answer_time: int = Field(900, ge=1, description="Seconds one request may take.")


class ModelUnreachableError(PodiumError):
    """A model gave no answer, whatever was tried."""


def require_model(assignment: Assignment, agent: str) -> None:
    """
    Raises:
        UsageError: the run has no model.
    """
    if not assignment.has_model:
        raise UsageError(f"The agent '{agent}' needs a model. Add --model, for example --model openai/gpt-4o")


async def ask_model(
    messages: Sequence[ChatMessage],
    *,
    tools: Sequence[ToolInfo] = (),
    options: TalkOptions,
    role: str = "main",
) -> ModelOutput:
    """The answer of the run's model, or of the one that has a role.

    Raises:
        ModelUnreachableError: there was none.
    """
    from inspect_ai.model import GenerateConfig, get_model

    config = GenerateConfig(
        max_tokens=options.max_tokens, max_retries=options.retries, attempt_timeout=options.answer_time
    )
    return await generate(get_model(role=role), messages, config, tools=tools)


async def generate(
    model: Model,
    messages: Sequence[ChatMessage],
    config: GenerateConfig,
    *,
    tools: Sequence[ToolInfo] = (),
    tool_choice: ToolFunction | None = None,
) -> ModelOutput:
    """A model's answer, whole characters only.

    Raises:
        ModelUnreachableError: there was none.
    """
    from inspect_ai.util import LimitExceededError
    from tenacity import RetryError

    try:
        output = await model.generate(list(messages), tools=list(tools), tool_choice=tool_choice, config=config)
    except LimitExceededError:
        raise
    except Exception as error:  # providers raise what they like
        cause = error.last_attempt.exception() if isinstance(error, RetryError) else error
        raise ModelUnreachableError(
            f"The model {model.name} gave no answer, with {config.max_retries} retries. "
            f"{type(cause).__name__}: {str(cause)[:500]}. "
            "Nothing is lost: repeat the command with --retry and the run goes on from here"
        ) from error
    for choice in output.choices:
        choice.message = type(choice.message).model_validate(whole(choice.message.model_dump()))
    return output


def whole(value: Any) -> Any:
    """The value with halves of characters (lone surrogates) replaced: models write them, and no file can hold them."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {whole(name): whole(part) for name, part in value.items()}
    return [whole(part) for part in value] if isinstance(value, list) else value


def brief(assignment: Assignment) -> str:
    """The instructions and the task's description."""
    from podium.actions import bounded

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


def tool_info(usage: Usage, *, before: Mapping[str, str] | None = None) -> ToolInfo:
    """An action as models that call tools see it.

    Args:
        before: further arguments, texts with a description, put before the action's own.
    """
    from inspect_ai.tool import ToolInfo, ToolParam, ToolParams

    further = {name: ToolParam(type="string", description=text) for name, text in (before or {}).items()}
    own = {
        name: ToolParam(type="integer" if argument.type == "integer" else "string", description=argument.description)
        for name, argument in usage.arguments.items()
    }
    required = [*further, *(name for name, argument in usage.arguments.items() if argument.is_required)]
    return ToolInfo(
        name=usage.name,
        description=f"{usage.description} Gives back: {usage.returns}",
        parameters=ToolParams(properties={**further, **own}, required=required),
    )


def end_of_run(reason: str) -> list[Action]:
    """The last step of an agent that gives up, so that the journal says why."""
    return [Action(name="final_answer", arguments={"final_answer": reason})]
