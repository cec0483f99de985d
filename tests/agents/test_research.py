"""The research agent: how it reads answers, and what it tells its models."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from model_server import Reply, Request, serving, text_of
from talkers import assignment, coder, entries, in_sample, is_aside

from podium.actions import ACTIONS
from podium.agents import read_options
from podium.agents.research.parse_reply import FormatError, find_action, read_entries, read_input
from podium.agents.research.researcher import Researcher
from podium.agents.research.researcher_memory import ResearchState, ResearchStep
from podium.errors import UsageError
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import TextResult

GOOD = entries(1, "list_files", {"dir_path": "data"})


def test_entries_are_found_by_their_titles() -> None:
    found = read_entries(GOOD)
    assert found["Reflection"] == "Step 1 follows from the one before."
    assert found["Action"] == "List Files"
    assert found["Action Input"] == '{"dir_path": "data"}'


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"**{line.replace(':', ':**', 1)}" for line in GOOD.splitlines()),
        "\n".join(f"### {line.replace(': ', ':' + chr(10), 1)}" for line in GOOD.splitlines()),
        GOOD.upper().replace('{"DIR_PATH": "DATA"}', '{"dir_path": "data"}'),
        "Let me see.\n\n" + GOOD + "\nObservation:\ntrain.csv\n" + entries(2, "final_answer", {"final_answer": "!"}),
    ],
    ids=["bold", "headings", "capitals", "invented observations"],
)
def test_lenient_parsing_of_replies(text: str) -> None:
    found = read_entries(text)
    action = find_action(found["Action"].splitlines()[0], ACTIONS, [])
    assert action.name == "list_files"
    assert read_input(found["Action Input"], action) == {"dir_path": "data"}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", '"Reflection:" is missing'),
        (GOOD.replace("Fact Check", "Facts"), '"Fact Check:" is missing'),
        (GOOD.split("Action Input")[0], '"Action Input:" is missing'),
        ("Thought: first\n" + GOOD.replace("Thought", "Idea"), '"Thought:" is out of order'),
    ],
)
def test_a_fault_in_the_entries_is_named(text: str, fault: str) -> None:
    with pytest.raises(FormatError, match=fault):
        read_entries(text)


@pytest.mark.parametrize(
    "name", ["write_file", "Write File", "`Write File`", "write file", "[Write File]", "WRITE FILE."]
)
def test_actions_are_found_by_name_and_title(name: str) -> None:
    assert find_action(name, ACTIONS, []).name == "write_file"


def test_an_unknown_action_is_answered_with_the_known_ones() -> None:
    with pytest.raises(FormatError, match=r"no action 'fly'.* The actions are: List Files, Final Answer"):
        find_action("fly", ACTIONS, ["list_files", "final_answer"])
    assert find_action("Edit Script", ACTIONS, []).name == "edit_script"


@pytest.mark.parametrize(
    "text",
    [
        r'{"file_name": "a.py", "content": "x = \"1\"\nprint(x)"}',
        '```json\n{"file_name": "a.py", "content": "x = \\"1\\"\\nprint(x)"}\n```',
        '{"file_name": "a.py", "content": "x = \\"1\\"\nprint(x)"}',
        'Here it is: {"file_name": "a.py", "content": "x = \\"1\\"\\nprint(x)"} as you asked',
        '{"file_name": "a.py",\n "content": "x = "1"\nprint(x)"\n}',
        '{"file_name": "a.py", "content": "x = "1"\\nprint(x)"}',
    ],
    ids=["JSON", "fenced", "bare newline", "surrounded", "bare quotes", "bare quotes in a line"],
)
def test_sloppy_json_is_understood(text: str) -> None:
    assert read_input(text, ACTIONS["write_file"]) == {"file_name": "a.py", "content": 'x = "1"\nprint(x)'}


def test_backslashes_that_json_does_not_know_stay() -> None:
    found = read_input(r'{"file_name": "a.py", "content": "re.sub(\"\d+\", \"\", x)"}', ACTIONS["write_file"])
    assert found["content"] == r're.sub("\d+", "", x)'


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("the first file", "not a JSON object"),
        ('{"file": "a.py"}', "lacks file_name"),
        ('{"file_name": "a.py", "mode": "r"}', "contains 'mode', which the action does not accept"),
        ("[1, 2]", "not a JSON object"),
    ],
)
def test_a_fault_in_the_input_is_answered_with_the_usage(text: str, fault: str) -> None:
    with pytest.raises(FormatError, match=fault) as caught:
        read_input(text, ACTIONS["read_file"])
    assert '"file_name": "[' in str(caught.value)


def test_unknown_actions_to_show_are_rejected() -> None:
    with pytest.raises(UsageError, match="there is no action 'fly'"):
        read_options("research", {"show": "write_file, fly"})


class Rehearsal:
    """The agent without a sandbox: observations come from a list, models from a server."""

    def __init__(self, data_dir: Path, logs: Path, **options: Any) -> None:
        texts = {name: str(value) for name, value in options.items()}
        self.agent = Researcher(assignment(data_dir, steps=7, time_s=90.0), read_options("research", texts))
        self.logs = logs
        self.state: ResearchState = self.agent.begin()
        self.decisions: list[Sequence[Action]] = []

    def play(self, observations: list[str], behaviour: Any = None, *, roles: Sequence[str] = ()) -> list[Request]:
        async def work() -> None:
            for observation in [*observations, ""]:
                actions = await self.agent.decide(self.state)
                self.decisions.append(actions)
                # As after an interruption: all there is comes from what was saved.
                self.state = ResearchState.model_validate_json(self.state.model_dump_json())
                if not actions or observation == "":
                    return
                self.state = self.agent.observe(self.state, actions, [TextResult(text=observation)] * len(actions))

        with serving(behaviour or coder([("list_files", {"dir_path": "."})])) as server:
            in_sample(work, server, self.logs, roles=roles)
        return server.requests


@pytest.fixture
def rehearse(data_dir: Path, tmp_path: Path) -> Any:
    return lambda **options: Rehearsal(data_dir, tmp_path, **options)


def questions(requests: list[Request]) -> list[Request]:
    return [request for request in requests if not is_aside(request)]


def test_the_first_prompt_has_the_task_and_the_rules(rehearse: Any) -> None:
    request = questions(rehearse().play([]))[0]
    text = text_of(request)
    plans = ("Research Plan and Status:", "Fact Check:", "Understand File:")
    for said in (*plans, "area under the ROC curve", "Do your best."):
        assert said in text
    assert "Remaining budget: 1 min 30 s of working time, 7 steps. This is step 1." in text
    assert "Write File" not in text
    assert "tools" not in request


def test_only_the_last_steps_are_shown_in_full_and_older_ones_by_the_log(rehearse: Any) -> None:
    rehearsal = rehearse(steps_in_context=2, log=True)
    last = questions(rehearsal.play(["first sight", "second sight", "third sight", "fourth sight"]))[-1]
    text = text_of(last)
    assert "third sight" in text and "fourth sight" in text
    assert "first sight" not in text and "second sight" not in text
    assert "Step 1: Noted" in text and "Step 2: Noted" in text and "Step 3: Noted" not in text
    assert len(rehearsal.state.steps) == 2
    assert len(rehearsal.state.log) == 4
    assert rehearsal.state.plan == "1. Look. 2. Train (step 5). 3. Submit."


def test_without_a_log_the_plan_is_all_that_is_left(rehearse: Any) -> None:
    requests = rehearse(steps_in_context=1).play(["first sight", "second sight"])
    assert len(questions(requests)) == len(requests) == 3
    assert "RESEARCH LOG" not in text_of(requests[-1])
    assert "Train (step 2)" in text_of(requests[-1])


def test_retrieval_asks_the_fast_model_about_the_log(rehearse: Any) -> None:
    rehearsal = rehearse(steps_in_context=1, retrieval=True)
    requests = rehearsal.play(["first sight", "second sight"])
    asked = [request for request in requests if "Which entries of this log matter" in text_of(request)]
    assert len(asked) == 1
    assert "Step 1: Noted" in text_of(asked[0])
    assert "Train (step 2)" in text_of(asked[0])
    assert "Reflection: Have a language model review" in text_of(requests[0])
    assert [action.name for action in rehearsal.decisions[1]] == ["list_files", "append_summary_to_research_log"]


def test_long_observations_are_condensed_block_by_block(rehearse: Any) -> None:
    rehearsal = rehearse(steps_in_context=3)
    requests = rehearsal.play(["a line of output\n" * 1_500])
    blocks = [request for request in requests if "part 1 of 3" in text_of(request) or "part 3 of 3" in text_of(request)]
    assert len(blocks) == 2
    shown = text_of(questions(requests)[-1])
    assert "[condensed from 25,500 characters]\nNoted" in shown
    assert "a line of output" not in shown


def test_roles_have_models_of_their_own(rehearse: Any) -> None:
    requests = rehearse(log=True).play(["first sight"], roles=["fast", "main"])
    assert {request["model"] for request in requests if is_aside(request)} == {"fast"}
    assert {request["model"] for request in questions(requests)} == {"main"}


def test_a_fast_model_that_says_nothing_is_done_without(rehearse: Any) -> None:
    good = coder([("list_files", {"dir_path": "."})])

    def speechless(request: Request, rng: random.Random) -> Any:
        return Reply("") if is_aside(request) else good(request, rng)

    rehearsal = rehearse(steps_in_context=1, log=True)
    requests = rehearsal.play(["first sight", "x" * 9_000], speechless)
    assert rehearsal.state.log[0] == "list_files: Now list_files. -> first sight"
    assert "characters left out" in text_of(questions(requests)[-1])


def test_an_unusable_answer_is_rejected_with_the_reason(rehearse: Any) -> None:
    good = coder([("list_files", {"dir_path": "."})])

    def careless(request: Request, rng: random.Random) -> Any:
        told = "attempts left: " in text_of(request)
        return good(request, rng) if told else entries(1, "read_file", {"file": "a.py"})

    requests = rehearse().play([], careless)
    assert len(requests) == 2
    text = text_of(requests[1])
    assert "No action was performed. The input of Read File lacks file_name. The expected input is:" in text
    assert "(attempts left: 4)" in text


def test_the_agent_ends_after_its_steps(rehearse: Any) -> None:
    rehearsal = rehearse(max_steps=2)
    rehearsal.play(["first sight", "second sight", "the end"])
    [[last], nothing] = rehearsal.decisions[2:]
    assert last.name == "final_answer"
    assert "after 2 steps" in last.arguments["final_answer"]
    assert list(nothing) == []


@pytest.mark.parametrize("protocol", ["text", "tools"])
def test_observing_changes_nothing_but_gives_a_new_state(rehearse: Any, protocol: str) -> None:
    rehearsal = rehearse(protocol=protocol)
    rehearsal.play([])
    before = rehearsal.state.model_dump_json()
    [action] = rehearsal.decisions[0]
    twice = [rehearsal.agent.observe(rehearsal.state, [action], [TextResult(text="seen")]) for _ in range(2)]
    assert twice[0] == twice[1]
    assert rehearsal.state.model_dump_json() == before
    assert twice[0].steps == [
        ResearchStep.model_validate({**rehearsal.state.steps[0].model_dump(), "observation": "seen"})
    ]


def test_tools_take_the_thinking_as_arguments(rehearse: Any) -> None:
    rehearsal = rehearse(protocol="tools", show="write_file")
    requests = rehearsal.play(["seen"])
    tools = {tool["function"]["name"]: tool["function"] for tool in requests[0]["tools"]}
    assert {"list_files", "execute_script", "write_file", "validate_submission", "final_answer"} <= set(tools)
    properties = tools["list_files"]["parameters"]["properties"]
    assert list(properties) == ["reflection", "plan", "fact_check", "thought", "dir_path"]
    shown = questions(requests)[-1]["messages"]
    assert [message["role"] for message in shown] == ["system", "user", "assistant", "tool", "user"]
    assert shown[3]["content"] == "seen"


@pytest.mark.parametrize("protocol", ["text", "tools"])
def test_halves_of_characters_do_no_harm(rehearse: Any, protocol: str) -> None:
    rehearsal = rehearse(protocol=protocol)
    rehearsal.play([], coder([("write_file", {"file_name": "a.txt", "content": "half \ud83d"})]))
    assert rehearsal.decisions[0][0].arguments["content"] == "half ?"
