"""The react agent: tool calls one by one or together, and a conversation that fits the model's window."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ChatMessageAssistant
from inspect_ai.tool import ToolCall
from model_server import Call, Fault, Reply, Request, serving, text_of
from talkers import assignment, coder, in_sample

from podium.agents import read_options
from podium.agents.react import React, ReactState
from podium.agents.tool_conversation import Conversation
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import TextResult


def conversation(turns: int, *, characters: int = 900) -> Conversation:
    talk = Conversation.begin("Be good.", "Do this.")
    for number in range(turns):
        call = ToolCall(id="call-0", function="bash", arguments={"command": f"echo {number}"})
        talk.add(ChatMessageAssistant(content=f"turn {number}", tool_calls=[call]))
        talk.answer(call, f"seen {number} " + "x" * characters)
    return talk


def texts(talk: Conversation) -> list[str]:
    return [message.text for message in talk.messages(note="!")]


def test_a_conversation_comes_back_as_it_was() -> None:
    talk = conversation(3)
    again = Conversation.load(talk.dump(), talk.left_out)
    assert again.dump() == talk.dump()
    assert texts(again) == texts(talk)


def test_a_short_conversation_is_left_alone() -> None:
    talk = conversation(5)
    before = talk.dump()
    talk.shorten(30_000)
    assert talk.dump() == before


def test_the_oldest_observations_give_way_first() -> None:
    talk = conversation(10)
    talk.shorten(9_000)
    found = texts(talk)
    assert found[3] == "[An observation of 907 characters was removed here to save space.]"
    assert found[2] == "turn 0"
    assert found[-2].startswith("seen 9 xxx")
    assert sum(map(len, found)) < 9_000
    assert talk.left_out == 0


def test_whole_turns_go_when_that_is_not_enough() -> None:
    talk = conversation(100, characters=2_000)
    talk.shorten(6_000)
    found = texts(talk)
    assert found[:2] == ["Be good.", "Do this."]
    assert found[2] == f"[{talk.left_out} earlier turns were removed to save space.]"
    assert talk.left_out > 50
    assert found[3].startswith("turn ")
    assert sum(map(len, found)) < 6_000


def test_an_observation_longer_than_the_window_is_cut() -> None:
    talk = conversation(1, characters=50_000)
    talk.shorten(6_000)
    assert "characters left out" in texts(talk)[3]
    assert sum(map(len, texts(talk))) < 6_000


def test_calls_without_a_result_are_known_also_when_ids_repeat() -> None:
    talk = conversation(2)
    assert talk.unanswered == []
    calls = [ToolCall(id="call-0", function="bash", arguments={"command": name}) for name in "ab"]
    talk.add(ChatMessageAssistant(content="", tool_calls=calls))
    assert talk.unanswered == calls
    talk.answer(calls[0], "done")
    assert talk.unanswered == calls[1:]


Play = Callable[..., tuple[list[Sequence[Action]], list[Request]]]


@pytest.fixture
def play(data_dir: Path, tmp_path: Path) -> Play:
    """Plays the agent without a sandbox, each observation saying what was done; the decisions, and what was asked."""

    def play_(
        behaviour: Any, *, steps: int = 8, has_person: bool = False, **options: Any
    ) -> tuple[list[Sequence[Action]], list[Request]]:
        texts = {name: str(value) for name, value in options.items()}
        given = replace(assignment(data_dir, time_s=3_700.0, tokens=1_000), has_person=has_person)
        agent = React(given, read_options("react", texts))
        decisions: list[Sequence[Action]] = []

        async def work() -> None:
            state = agent.begin()
            while len(decisions) < steps and (actions := await agent.decide(state)):
                decisions.append(actions)
                state = ReactState.model_validate_json(state.model_dump_json())
                observations = [TextResult(text=f"did {action.name} {action.arguments}") for action in actions]
                before = state.model_dump_json()
                after = agent.observe(state, actions, observations)
                assert agent.observe(state, actions, observations) == after
                assert state.model_dump_json() == before
                state = after

        with serving(behaviour) as server:
            in_sample(work, server, tmp_path)
        return decisions, server.requests

    return play_


def three_at_once(request: Request, rng: random.Random) -> Reply:
    if "did list_files" in text_of(request):
        return Reply(calls=(Call("final_answer", {"final_answer": "done"}),))
    files = [Call("write_file", {"file_name": f"{name}.txt", "content": name}) for name in "ab"]
    return Reply(calls=(*files, Call("list_files", {"dir_path": "."})))


def test_the_prompt_has_the_task_and_the_remaining_budget(play: Play) -> None:
    _, requests = play(coder([("final_answer", {"final_answer": "done"})]))
    said = text_of(requests[0])
    assert "Do your best." in said and "area under the ROC curve" in said
    assert "[Remaining budget: 1 h 2 min of working time, 1,000 tokens.]" in said
    assert {"bash", "python_session", "write_file", "final_answer"} <= {
        tool["function"]["name"] for tool in requests[0]["tools"]
    }


@pytest.mark.parametrize("has_person", [False, True])
def test_the_prompt_states_if_a_person_answers_questions(play: Play, has_person: bool) -> None:
    _, (request,) = play(coder([("final_answer", {"final_answer": "done"})]), has_person=has_person)
    assert ("There is no one to answer questions" in text_of(request)) != has_person
    assert ("request_help" in {tool["function"]["name"] for tool in request["tools"]}) == has_person


def test_several_calls_are_done_one_by_one(play: Play) -> None:
    decisions, requests = play(three_at_once)
    assert [[action.name for action in actions] for actions in decisions] == [
        ["write_file"],
        ["write_file"],
        ["list_files"],
        ["final_answer"],
    ]
    assert len(requests) == 2
    assert [message["role"] for message in requests[1]["messages"]][3:] == ["tool", "tool", "tool", "user"]


def test_or_together_if_that_is_wanted(play: Play) -> None:
    decisions, _ = play(three_at_once, together=True)
    assert [len(actions) for actions in decisions] == [3, 1]


def test_bash_is_a_command_and_submit_the_final_answer(play: Play) -> None:
    def answer(request: Request, rng: random.Random) -> Reply:
        if "did run_command" in text_of(request):
            return Reply(calls=(Call("submit", {"answer": "I am done"}),))
        return Reply(calls=(Call("bash", {"command": "ls data"}),))

    decisions, _ = play(answer)
    assert decisions[0] == [Action(name="run_command", arguments={"command": "ls data"})]
    assert decisions[1] == [Action(name="final_answer", arguments={"final_answer": "I am done"})]
    assert len(decisions) == 2


def test_a_wrong_call_is_explained_and_nothing_of_that_answer_done(play: Play) -> None:
    def answer(request: Request, rng: random.Random) -> Reply:
        if "There is no tool" in text_of(request):
            return Reply(calls=(Call("final_answer", {"final_answer": "done"}),))
        return Reply(calls=(Call("try_script", {"number": 1}), Call("bash", {"command": "ls"})))

    decisions, requests = play(answer)
    assert [[action.name for action in actions] for actions in decisions] == [["final_answer"]]
    told = [message["content"] for message in requests[1]["messages"] if message["role"] == "tool"]
    assert told[0].startswith("There is no tool 'try_script'. The tools are: bash")
    assert told[1] == "Not performed: another tool call of this answer is invalid."


def test_the_agent_gives_up_on_a_model_without_tool_calls(play: Play) -> None:
    decisions, requests = play(lambda request, rng: "I am thinking.", attempts=3)
    assert len(requests) == 3
    assert "You did not call a tool" in text_of(requests[1]) and "until the work ends: 1." in text_of(requests[2])
    [[last]] = decisions
    assert last.arguments["final_answer"].endswith("The last problem: The answer has no tool call.")


def test_the_conversation_stays_within_the_window(play: Play) -> None:
    def answer(request: Request, rng: random.Random) -> Reply:
        return Reply(calls=(Call("write_file", {"file_name": "a.txt", "content": "word " * 400}),))

    _, requests = play(answer, steps=20, context_tokens=9_000)
    sizes = [len(str(request["messages"])) for request in requests]
    assert len(requests) == 20
    assert max(sizes) < 9_000 * 3
    assert "earlier turns were removed" in text_of(requests[-1])


def test_a_window_smaller_than_was_thought_is_found_out(play: Play) -> None:
    fine = Reply(calls=(Call("write_file", {"file_name": "a.txt", "content": "word " * 400}),))

    def answer(request: Request, rng: random.Random) -> Reply | Fault:
        if len(str(request["messages"])) > 14_000:
            return Fault(status=400, message="Too many tokens", code="context_length_exceeded")
        return fine

    decisions, _ = play(answer, steps=10, context_tokens=20_000)
    assert [actions[0].name for actions in decisions] == ["write_file"] * 10


def test_halves_of_characters_do_no_harm(play: Play) -> None:
    decisions, _ = play(coder([("write_file", {"file_name": "a.txt", "content": "half \ud83d"})]), steps=1)
    assert decisions[0][0].arguments["content"] == "half ?"
