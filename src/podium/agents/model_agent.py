"""What agents that talk to a model share: asking it, the brief, and what is left of the budget."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationError, field_validator

from podium.agents.base import Assignment, Options, Remaining
from podium.models.model_requests import RETRIES, Prompt, generate
from podium.text import bounded, format_duration, plural, valid_unicode
from podium.workspace.journal.events import Action

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
    from inspect_ai.tool import ToolFunction, ToolInfo

BRIEF_CHARACTERS = 30_000
ROLES = {"main": "decides what to do", "fast": "summarises and reads files", "edit": "rewrites scripts"}
"""Of agents that use all actions: some of these ask models in roles of their own."""


class ModelOptions(Options):
    """What every agent with a model can be told."""

    attempts: int = Field(5, ge=1, description="Useless answers, one after the other, before the agent gives up.")
    max_tokens: int = Field(
        4_096, ge=100, description="Longest answer, reasoning included; one that was cut off may be longer next time."
    )
    context_tokens: int | None = Field(
        None, ge=1_000, description="The model's window; by default what its provider or Inspect says, if anything."
    )
    retries: int = Field(RETRIES, ge=0, description="Times a request is repeated when the model cannot be reached.")
    answer_time: int = Field(900, ge=1, description="Seconds one request may take.")
    temperature: float | None = Field(None, ge=0, description="Of sampling answers; the provider's if unset.")
    top_p: float | None = Field(None, gt=0, le=1, description="Share of the likeliest tokens to sample from.")
    sampling_seed: int | None = Field(None, description="Of sampling, where a provider has one.")
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = Field(
        None, description="How much a reasoning model thinks; the provider's default if unset."
    )
    reasoning_tokens: int | None = Field(None, ge=1, description="Tokens for reasoning, where a provider counts them.")
    stop: str | None = Field(None, description="Text that ends an answer.")
    role_settings: dict[str, dict[str, Any]] = Field(
        {}, description='Settings for single roles as JSON: {"coder": {"temperature": 0.2}}.'
    )

    @field_validator("role_settings", mode="before")
    @classmethod
    def _read_json(cls, value: Any) -> Any:
        return json.loads(value) if isinstance(value, str) else value

    @field_validator("role_settings")
    @classmethod
    def _are_settings(cls, value: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        return {role: _checked_settings(role, settings) for role, settings in value.items()}

    def config(self, role: str | None = None, **defaults: Any) -> GenerateConfig:
        """How a model in a role is asked; what is unset is taken from the defaults, if they say so."""
        from inspect_ai.model import GenerateConfig

        own = {name: value for name in SETTINGS if (value := getattr(self, name)) is not None}
        settings = {**defaults, **own, **self.role_settings.get(role or "", {})}
        seed, stop = settings.pop("sampling_seed", None), settings.pop("stop", None)
        return GenerateConfig(
            **settings, seed=seed, stop_seqs=[stop] if stop else None, attempt_timeout=self.answer_time
        )


def _checked_settings(role: str, settings: dict[str, Any]) -> dict[str, Any]:
    if unknown := [name for name in settings if name not in SETTINGS]:
        raise ValueError(f"'{unknown[0]}' of '{role}' is not one of: {', '.join(SETTINGS)}")
    try:
        checked = ModelOptions.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"'{first['loc'][0]}' of '{role}': {first['msg']}") from error
    return {name: getattr(checked, name) for name in settings}


SETTINGS = (*("max_tokens", "temperature", "top_p", "sampling_seed", "reasoning_effort", "reasoning_tokens", "stop"),)
"""Options that say how a model is asked."""


async def ask_model(
    prompt: Sequence[ChatMessage] | Prompt,
    options: ModelOptions,
    *,
    role: str = "main",
    model: Model | None = None,
    tools: Sequence[ToolInfo] = (),
    tool_choice: ToolFunction | None = None,
    **defaults: Any,
) -> ModelOutput:
    """The answer of a model, by default that of the role.

    Args:
        defaults: settings for what the options leave unset.

    Raises:
        ModelUnreachableError: there was none.
    """
    from inspect_ai.model import get_model

    output = await generate(
        model or get_model(role=role),
        prompt,
        options.config(role, **defaults),
        tools=tools,
        tool_choice=tool_choice,
        retries=options.retries,
        context_tokens=options.context_tokens,
    )
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
