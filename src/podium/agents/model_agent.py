"""Shared parts of agents that use a language model: options, model calls, the brief and the budget line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationError, field_validator

from podium.agents.base import Assignment, Options, Remaining
from podium.models.model_requests import MAX_RETRIES, Prompt, generate
from podium.text import bounded, format_duration, plural, valid_unicode
from podium.workspace.journal.events import Action

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
    from inspect_ai.tool import ToolFunction, ToolInfo

BRIEF_CHARACTERS = 30_000
ROLES = {"main": "decides what to do", "fast": "summarises and reads files", "edit": "rewrites scripts"}
"""Model roles of agents that use all actions; some actions call a model in a role of their own."""


class ModelOptions(Options):
    """Options of every agent that uses a model."""

    attempts: int = Field(5, ge=1, description="Consecutive unusable answers after which the agent gives up.")
    max_tokens: int = Field(
        4_096,
        ge=100,
        description="Maximum tokens of an answer, including reasoning. Raised for the retry of a truncated answer.",
    )
    context_tokens: int | None = Field(
        None,
        ge=1_000,
        description="Context window of the model. Default: the value known to the provider or Inspect, if any.",
    )
    retries: int = Field(MAX_RETRIES, ge=0, description="Retries of a request when the model cannot be reached.")
    answer_time: int = Field(900, ge=1, description="Timeout of one request in seconds.")
    temperature: float | None = Field(None, ge=0, description="Sampling temperature. Default: the provider's.")
    top_p: float | None = Field(None, gt=0, le=1, description="Probability mass of nucleus sampling (top-p).")
    sampling_seed: int | None = Field(None, description="Seed for sampling, if the provider supports one.")
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = Field(
        None, description="Reasoning effort of a reasoning model. Default: the provider's."
    )
    reasoning_tokens: int | None = Field(None, ge=1, description="Token budget for reasoning, if supported.")
    stop: str | None = Field(None, description="Stop sequence: text that ends an answer.")
    role_settings: dict[str, dict[str, Any]] = Field(
        {}, description='Settings per role as JSON, for example {"coder": {"temperature": 0.2}}.'
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
        """Return the generation settings for a role. Unset options are taken from `defaults`."""
        from inspect_ai.model import GenerateConfig

        own = {name: value for name in SETTINGS if (value := getattr(self, name)) is not None}
        settings = {**defaults, **own, **self.role_settings.get(role or "", {})}
        seed, stop = settings.pop("sampling_seed", None), settings.pop("stop", None)
        return GenerateConfig(
            **settings, seed=seed, stop_seqs=[stop] if stop else None, attempt_timeout=self.answer_time
        )


def _checked_settings(role: str, settings: dict[str, Any]) -> dict[str, Any]:
    if unknown := [name for name in settings if name not in SETTINGS]:
        raise ValueError(f"the setting '{unknown[0]}' of the role '{role}' is unknown; known: {', '.join(SETTINGS)}")
    try:
        checked = ModelOptions.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"the setting '{first['loc'][0]}' of the role '{role}' is invalid: {first['msg']}") from error
    return {name: getattr(checked, name) for name in settings}


SETTINGS = (*("max_tokens", "temperature", "top_p", "sampling_seed", "reasoning_effort", "reasoning_tokens", "stop"),)
"""Options that are passed to the model with each request."""


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
    """Return the output of a model, by default of the role's model.

    Args:
        defaults: settings for options that are unset.

    Raises:
        ModelUnreachableError: the model did not answer.
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
    """Return the instructions and the description of the task."""
    description = (assignment.public / "description.md").read_text(encoding="utf-8", errors="replace")
    return (
        f"{assignment.instructions.strip()}\n\n"
        f"TASK DESCRIPTION (data/description.md)\n{bounded(description.strip(), BRIEF_CHARACTERS)}"
    )


def budget_line(remaining: Remaining) -> str:
    """Return the remaining budget as a line for a prompt."""
    parts = [
        "" if remaining.time_s is None else f"{format_duration(remaining.time_s)} of working time",
        "" if remaining.steps is None else plural(remaining.steps, "step"),
        "" if remaining.tokens is None else f"{remaining.tokens:,} tokens",
    ]
    left = ", ".join(part for part in parts if part)
    return f"Remaining budget: {left}." if left else "Time and steps are not limited."


def end_of_run(reason: str) -> list[Action]:
    """Return the final action of an agent that gives up, which records the reason in the journal."""
    return [Action(name="final_answer", arguments={"final_answer": reason})]
