"""Conversations of a run for training: complete, in order, with the reward of each of the agent's steps.

The model calls of a run are read from Inspect's log; calls that continue earlier messages become one conversation. A
run of an environment has one conversation of observations and actions. Conversations contain only text that the agent
saw or wrote, and known keys are redacted.
"""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from podium.environment.rewards import value
from podium.runs.run_folder import RunFolder
from podium.workspace.journal.events import Step, read_full_action, read_full_observation

if TYPE_CHECKING:
    from inspect_ai.event import ModelEvent
    from inspect_ai.model import ChatMessage

REMOVED = "[key removed]"
_KEY_NAME = re.compile(r"(API_?KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
_KEY = re.compile(r"\b(?:(?:sk|rk|hf|ghp|gho|xox[bp])[-_]|AKIA)[A-Za-z0-9_-]{16,}\b")
MIN_KEY_CHARACTERS = 8


@dataclass(frozen=True)
class AnswerTokens:
    """Tokens of one answer, as returned by the provider."""

    texts: list[str] | None = None
    logprobs: list[float] | None = None
    ids: list[int] | None = None
    prompt_ids: list[int] | None = None


@dataclass
class TracedMessage:
    """A message with its role, tokens and reward."""

    role: str
    content: str
    tool_calls: str | None = None
    """JSON list of id, function and arguments."""
    tool_call_id: str | None = None
    generated: bool = False
    """True for messages of the policy: the mask of a loss over messages."""
    step: int | None = None
    """Step that resulted from the message."""
    reward: float = 0.0
    """Reward of that step, on the last message before it."""
    tokens: AnswerTokens | None = None


@dataclass
class TracedConversation:
    """Messages, each in the context of the following answer."""

    model: str
    role: str | None = None
    messages: list[TracedMessage] = field(default_factory=list)


def conversations(run: RunFolder) -> list[TracedConversation]:
    """Return all conversations of a run, with the rewards of its steps."""
    steps = run.read_journal().all_of(Step)
    calls = list(_model_calls(run))
    talks = _with_calls(calls) if calls else _played(run, steps)
    _spread(talks, step_rewards(run, len(steps)), [_moment(step.time) for step in steps] if calls else None)
    return talks


def step_rewards(run: RunFolder, count: int) -> list[float]:
    """Return the reward of every step: gains if all submissions were graded (`--curve`), else the final value."""
    rewards = [0.0] * count
    curve, record = run.read_curve(), run.read_record()
    if curve and count:
        lines = [line.n for line in run.read_journal().lines() if isinstance(line.event, Step)]
        before = 0.0
        for point in curve:
            after = value(point.grade)
            rewards[min(bisect_left(lines, point.line), count - 1)] += after - before
            before = after
    elif record is not None and count:
        rewards[-1] = value(record)
    return rewards


def _model_calls(run: RunFolder) -> Iterator[ModelEvent]:
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import read_eval_log

    for log in sorted(run.logs.glob("*.eval")) if run.logs.is_dir() else ():
        for sample in read_eval_log(str(log), resolve_attachments=True).samples or ():
            yield from (event for event in sample.events if isinstance(event, ModelEvent) and event.output.choices)


def _with_calls(calls: Sequence[ModelEvent]) -> list[TracedConversation]:
    """Group model calls into conversations: a call that starts with all messages of an earlier one continues it."""
    talks: list[TracedConversation] = []
    for call in calls:
        prompt = [_message(message) for message in call.input]
        answer = _message(call.output.message)
        answer.generated, answer.tokens = True, _tokens(call)
        answer.step = (
            round(call.completed.timestamp() * 1000) if call.completed else None
        )  # a time, replaced by `_spread`
        for talk in reversed(talks):
            known = len(talk.messages)
            if known <= len(prompt) and all(map(_is_same, talk.messages, prompt)):
                talk.messages += [*prompt[known:], answer]
                break
        else:
            talks.append(TracedConversation(call.model, call.role, [*prompt, answer]))
    return talks


def _is_same(one: TracedMessage, other: TracedMessage) -> bool:
    return (one.role, one.content, one.tool_calls) == (other.role, other.content, other.tool_calls)


def _message(message: ChatMessage) -> TracedMessage:
    calls = [
        {"id": call.id, "function": call.function, "arguments": call.arguments}
        for call in getattr(message, "tool_calls", None) or ()
    ]
    return TracedMessage(
        role=message.role,
        content=redact_keys(message.text),
        tool_calls=redact_keys(json.dumps(calls, ensure_ascii=False, default=str)) if calls else None,
        tool_call_id=getattr(message, "tool_call_id", None),
    )


def _tokens(call: ModelEvent) -> AnswerTokens | None:
    choice = call.output.choices[0]
    raw: Any = call.call.response if call.call and isinstance(call.call.response, dict) else {}
    first: Any = next(iter(raw.get("choices") or ()), {})
    ids, prompt_ids = first.get("token_ids"), raw.get("prompt_token_ids")
    content = choice.logprobs.content if choice.logprobs else None
    if content is None and ids is None:
        return None
    texts = None if content is None else [redact_keys(token.token) for token in content]
    return AnswerTokens(texts, None if content is None else [token.logprob for token in content], ids, prompt_ids)


def _played(run: RunFolder, steps: Sequence[Step]) -> list[TracedConversation]:
    """Return the one conversation of a run without model calls, such as an episode."""
    start = run.read_journal().start
    talk = TracedConversation(model=start.agent)
    with run.read_history() as history:
        for number, step in enumerate(steps, start=1):
            action, observation = read_full_action(step, history.get), read_full_observation(step, history.get)
            said = json.dumps({"action": action.name, "arguments": action.arguments}, ensure_ascii=False)
            talk.messages.append(TracedMessage("assistant", redact_keys(said), generated=True, step=number))
            talk.messages.append(TracedMessage("user", redact_keys(observation.text)))
    return [talk]


def _spread(talks: Sequence[TracedConversation], rewards: Sequence[float], times: list[int] | None) -> None:
    """Assign each generated message its step, and the last message before a step its reward."""
    last: dict[int, TracedMessage] = {}
    for message in (message for talk in talks for message in talk.messages if message.generated):
        if times is not None:
            place = bisect_left(times, message.step or 0)
            message.step = place + 1 if place < len(times) else None
        if message.step is not None:
            last[message.step] = message
    for number, reward in enumerate(rewards, start=1):
        reached = [step for step in last if step <= number]
        if reward and reached:
            last[max(reached)].reward += reward


def _moment(time: str) -> int:
    return round(datetime.fromisoformat(time).timestamp() * 1000)


def redact_keys(text: str) -> str:
    """Redact the keys of this machine's environment, and text that looks like a key."""
    for name, secret in os.environ.items():
        if len(secret) >= MIN_KEY_CHARACTERS and _KEY_NAME.search(name):
            text = text.replace(secret, REMOVED)
    return _KEY.sub(REMOVED, text)
