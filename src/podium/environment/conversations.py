"""What was said in a run, as conversations to train with: whole, in order, with what each of an agent's steps earned.

Of a run with a model every call of it is read from Inspect's log; calls that go on with what was said before become one
conversation. A run of an environment has one conversation: observations and the actions given for them. Neither holds
anything that the agent did not see or say, and known keys are cut out.
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
from podium.workspace.journal.events import Step, whole_action, whole_observation

if TYPE_CHECKING:
    from inspect_ai.event import ModelEvent
    from inspect_ai.model import ChatMessage

REMOVED = "[key removed]"
_KEY_NAME = re.compile(r"(API_?KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
_KEY = re.compile(r"\b(?:(?:sk|rk|hf|ghp|gho|xox[bp])[-_]|AKIA)[A-Za-z0-9_-]{16,}\b")
SHORTEST_KEY = 8


@dataclass(frozen=True)
class AnswerTokens:
    """The tokens of one answer, as far as the provider gave them."""

    texts: list[str] | None = None
    logprobs: list[float] | None = None
    ids: list[int] | None = None
    prompt_ids: list[int] | None = None


@dataclass
class TracedMessage:
    """Something that was said."""

    role: str
    content: str
    tool_calls: str | None = None
    """As JSON: a list of id, function and arguments."""
    tool_call_id: str | None = None
    generated: bool = False
    """Whether the policy said it: the mask of a loss over messages."""
    step: int | None = None
    """The step it led to."""
    reward: float = 0.0
    """What that step earned; it stands at the last message before the step."""
    tokens: AnswerTokens | None = None


@dataclass
class TracedConversation:
    """Messages, each of which the next answer was given in view of."""

    model: str
    role: str | None = None
    messages: list[TracedMessage] = field(default_factory=list)


def conversations(run: RunFolder) -> list[TracedConversation]:
    """All conversations of a run, with the rewards of its steps."""
    steps = run.read_journal().all_of(Step)
    calls = list(_model_calls(run))
    talks = _with_calls(calls) if calls else _played(run, steps)
    _spread(talks, step_rewards(run, len(steps)), [_moment(step.time) for step in steps] if calls else None)
    return talks


def step_rewards(run: RunFolder, count: int) -> list[float]:
    """What every step of a run earned: gains where all submissions were graded (`--curve`), else the final value."""
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
    """Model calls as conversations: one that repeats all of an earlier one goes on with it."""
    talks: list[TracedConversation] = []
    for call in calls:
        told = [_message(message) for message in call.input]
        answer = _message(call.output.message)
        answer.generated, answer.tokens = True, _tokens(call)
        answer.step = round(call.completed.timestamp() * 1000) if call.completed else None  # a time, until spread
        for talk in reversed(talks):
            known = len(talk.messages)
            if known <= len(told) and all(map(_is_same, talk.messages, told)):
                talk.messages += [*told[known:], answer]
                break
        else:
            talks.append(TracedConversation(call.model, call.role, [*told, answer]))
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
        content=without_keys(message.text),
        tool_calls=without_keys(json.dumps(calls, ensure_ascii=False, default=str)) if calls else None,
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
    texts = None if content is None else [without_keys(token.token) for token in content]
    return AnswerTokens(texts, None if content is None else [token.logprob for token in content], ids, prompt_ids)


def _played(run: RunFolder, steps: Sequence[Step]) -> list[TracedConversation]:
    """The one conversation of a run whose actions came from outside, or from an agent without a model."""
    start = run.read_journal().start
    talk = TracedConversation(model=start.agent)
    with run.read_history() as history:
        for number, step in enumerate(steps, start=1):
            action, observation = whole_action(step, history.get), whole_observation(step, history.get)
            said = json.dumps({"action": action.name, "arguments": action.arguments}, ensure_ascii=False)
            talk.messages.append(TracedMessage("assistant", without_keys(said), generated=True, step=number))
            talk.messages.append(TracedMessage("user", without_keys(observation.text)))
    return [talk]


def _spread(talks: Sequence[TracedConversation], rewards: Sequence[float], times: list[int] | None) -> None:
    """Gives every generated message its step, and the last one before a step what that earned."""
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


def without_keys(text: str) -> str:
    """A text without the keys of this machine's environment, and without what looks like somebody's."""
    for name, secret in os.environ.items():
        if len(secret) >= SHORTEST_KEY and _KEY_NAME.search(name):
            text = text.replace(secret, REMOVED)
    return _KEY.sub(REMOVED, text)
