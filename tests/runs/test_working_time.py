"""Working time covers all computing, whatever else waits at the same time."""

from __future__ import annotations

import os
import random
from contextlib import AbstractContextManager
from contextvars import copy_context
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai._util.working import init_sample_working_time  # noqa: TID251 (to set the clock)
from inspect_ai.util import suspend_working_limit, working_limit
from model_server import Call, Fault, Reply, Request, serving, tool_names

from podium.inspect_internals import computing
from podium.workspace.budget import Budget

KINDS = {"computing": computing, "waiting": suspend_working_limit}
INTERVALS = st.lists(
    st.tuples(st.sampled_from(sorted(KINDS)), st.integers(0, 20), st.integers(1, 20)), max_size=12
)  # kind, start, length
WAIT_S = 1.0
ALL_CORES = len(os.sched_getaffinity(0))


def measured(intervals: list[tuple[str, int, int]]) -> float:
    """The working time of tasks that compute and wait at those times, on a clock of our own."""
    time = 0.0
    init_sample_working_time(0.0, clock=lambda: time)
    tasks = [(copy_context(), KINDS[kind](), start, start + length) for kind, start, length in intervals]
    events: list[tuple[int, Any, Any]] = []
    for context, block, start, end in tasks:
        events += [(start, context, block.__enter__), (end, context, lambda block=block: leave(block))]
    with working_limit(None) as limit:
        for moment, context, happen in sorted(events, key=lambda event: event[0]):
            time = float(moment)
            context.run(happen)
        time = 50.0
        return limit.usage


def leave(block: AbstractContextManager[None]) -> None:
    block.__exit__(None, None, None)


@given(INTERVALS)
def test_all_computing_time_is_charged(intervals: list[tuple[str, int, int]]) -> None:
    def happens(kind: str, moment: int) -> bool:
        return any(kind == other and start <= moment < start + length for other, start, length in intervals)

    charged = [happens("computing", moment) or not happens("waiting", moment) for moment in range(50)]
    assert copy_context().run(measured, intervals) == sum(charged)


def test_actions_sharing_cores_are_all_charged(play: Any, script: Any) -> None:
    """While one computes the others wait for its cores, which must not make its time free."""
    actions = [("run_command", {"command": "sleep 0.6"})] * 5
    row = play(script=script(actions), together=5, cores=ALL_CORES, budget=Budget(time_s=1.5))
    assert row.record.ended_by == "working time"


def limited_once(request: Request, rng: random.Random, asked: list[Request]) -> Reply | Fault:
    """A model that refuses the first request and asks to come again later."""
    asked.append(request)
    if len(asked) == 1:
        return Fault(status=429, message="Rate limit reached", code="rate_limit_exceeded", retry_after_s=WAIT_S)
    return Reply(calls=(Call("final_answer", {"final_answer": "done"}),)) if tool_names(request) else Reply("yes")


ASK = 'python -c \'import openai; print(openai.OpenAI().responses.create(model="x", input="?"))\''


@pytest.mark.parametrize(
    ("agent", "options", "is_free"),
    [
        ("react", {}, True),
        ("command", {"command": ASK}, False),  # computing and waiting of a program cannot be distinguished
    ],
)
def test_rate_limit_waits_are_charged_to_programs_only(
    play: Any, agent: str, options: dict[str, str], is_free: bool
) -> None:
    with serving(partial(limited_once, asked=[])) as server:
        row = play(agent=agent, model="openai-api/podium/scripted", model_base_url=server.url, **options)
    usage = row.record.usage
    assert server.faults == 1 and len(server.served) == 1
    assert (usage.wall_s - usage.working_s - usage.waited_s > WAIT_S / 2) is is_free
