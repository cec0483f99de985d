"""The action space as a whole: descriptions, and arbitrary names and arguments."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from inspect_ai.model import ChatMessageAssistant, execute_tools
from inspect_ai.tool import ToolCall, ToolDef
from inspect_ai.util import LimitExceededError
from workbench import Bench

import podium.actions
from podium.actions import ACTIONS, ActionContext, ActionError, action, ask_operator, offered, perform, tools
from podium.text import bounded
from podium.workspace.journal.observations import Refusal, TextResult

MLAGENTBENCH = {
    "List Files", "Read File", "Write File", "Append File", "Copy File", "Undo Edit Script", "Execute Script",
    "Python REPL", "Request Help", "Final Answer", "Understand File", "Inspect Script Lines", "Edit Script (AI)",
    "Edit Script Segment (AI)", "Append Summary to Research Log", "Retrieval from Research Log", "Reflection",
}  # fmt: skip


def test_the_action_space_is_mlagentbenchs_and_podiums_additions() -> None:
    added = {"Run Command", "Try Script", "Submit Script", "Submit Ensemble", "Validate Submission"}
    assert {spec.title for spec in ACTIONS.values()} == MLAGENTBENCH | added


def test_actions_are_offered_if_their_requirements_are_met() -> None:
    async def answer(text: str) -> str:
        return text

    def missing(**provided: Any) -> set[str]:
        return set(ACTIONS) - set(offered(ActionContext(**provided)))

    assert missing(person=answer, check_submission=answer) == {"submit_ensemble"}
    assert missing(check_submission=answer) == {"request_help", "submit_ensemble"}
    assert missing(person=answer) == {"try_script", "submit_script", "submit_ensemble", "validate_submission"}


def test_every_action_is_described_in_full() -> None:
    for spec in ACTIONS.values():
        assert spec.description
        assert spec.returns
        assert spec.title in spec.prompt()
        for argument in spec.arguments.values():
            assert argument.type in ("string", "integer", "number")
            assert argument.description


def test_tools_carry_their_names_for_models() -> None:
    for name, tool in tools(ActionContext(person=ask_operator)).items():
        assert ToolDef(tool).name == name


def test_public_names_exist() -> None:
    assert all(hasattr(podium.actions, name) for name in podium.actions.__all__)


def test_names_are_matched_as_agents_write_them(bench: Bench) -> None:
    names = ["list_files", "List Files", " list files ", "LIST_FILES", "List  Files"]
    assert bench.perform(*((name, {}) for name in names)) == ["data/"] * len(names)


def test_additional_actions_can_be_performed(bench: Bench) -> None:
    @action(title="Wait a Bit")
    async def wait(context: ActionContext, seconds: float) -> TextResult:
        """Wait.

        Args:
            seconds: How long.
        """
        return TextResult(text=f"waited {seconds:g} s in {context.root}")

    async def work(context: ActionContext) -> list[Any]:
        more = {**offered(context), wait.name: wait}
        return [await perform("Wait a Bit", given, context, more) for given in ({"seconds": "2.5"}, {})]

    done, misused = bench.play(work)
    assert done == TextResult(text="waited 2.5 s in /home")
    assert isinstance(misused, Refusal) and "lacks seconds" in misused.text


def test_other_sandboxes_work(bench: Bench) -> None:
    bench.provider = "local"
    link = "import os; os.symlink('/etc', 'outside'); print('linked')"
    observations = bench.perform(
        ("write_file", {"file_name": "code/a.py", "content": link}),
        ("execute_script", {"script_name": "code/a.py"}),
        ("list_files", {"dir_path": "outside"}),
        ("python_session", {"command": "x = 1"}),
        ("python_session", {"command": "x + 1"}),
        ("undo_edit_script", {"script_name": "code/a.py"}),
        ("list_files", {}),
        root=".",
        python=sys.executable,
    )
    assert observations == [
        "code/a.py has been written.",
        "code/a.py ended without an error. Output:\nlinked",
        "outside is outside the workspace. Only files inside it can be used.",
        "(no output)",
        "2",
        "code/a.py did not exist before the last edit and has been removed. 0 earlier edits can be undone.",
        "code/\noutside@",
    ]


def test_unknown_names_are_answered_with_the_list_of_actions(bench: Bench) -> None:
    unknown, endless, unavailable = bench.perform(
        ("Dance", {}), ("x" * 1_000_000, {}), ("request_help", {"request": "?"})
    )
    assert unknown.startswith("There is no action 'Dance'. The available actions are: List Files (list_files), ")
    assert "Request Help" not in unknown
    assert len(endless) < 2_000
    assert "There is no action" in unavailable


WRONG: list[tuple[object, str]] = [
    (None, "must be a JSON object"),
    ([], "must be a JSON object"),
    ("train.py", "must be a JSON object"),
    ({}, "lacks script_name, start_line_number, end_line_number"),
    ({"script_name": "a", "start_line_number": 1}, "lacks end_line_number"),
    ({"script_name": 1, "start_line_number": 1, "end_line_number": 2}, "script_name must be a string"),
    ({"script_name": "a", "start_line_number": "x", "end_line_number": 2}, "start_line_number must be an integer"),
    ({"script_name": "a", "start_line_number": True, "end_line_number": 2}, "must be an integer"),
    ({"script_name": "a", "start_line_number": 1.5, "end_line_number": 2}, "must be an integer"),
    ({"script_name": "a", "start_line_number": "9" * 6_000, "end_line_number": 2}, "must be an integer"),
    ({"script_name": "a", "start_line_number": 1, "end_line_number": 2, "x" * 9_999: 0}, "does not accept"),
]


def test_wrong_arguments_are_answered_with_the_usage(bench: Bench) -> None:
    observations = bench.perform(*(("Inspect Script Lines", arguments) for arguments, _ in WRONG))
    for (_, said), observation in zip(WRONG, observations, strict=True):
        assert observation.startswith("Inspect Script Lines was not performed: ")
        assert said in observation
        assert '"start_line_number": "[The first line to show' in observation
        assert len(observation) < 2_000


def test_integers_may_be_strings(bench: Bench) -> None:
    (bench.workspace / "a").write_text("1\n2\n")
    arguments = {"script_name": "a", "start_line_number": " 2", "end_line_number": "2"}
    assert bench.perform(("Inspect Script Lines", arguments))[0].endswith("2\t2")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
ANYTHING = st.characters(codec=None) | st.sampled_from(["\ud800", "\0", "/", ".", "~", "\n"])
NAMES = st.text(ANYTHING, max_size=30) | st.sampled_from([".", "data", "data/train.csv", "/", "..", ".podium"])
FREE = sorted(set(ACTIONS) - {"python_session", "request_help", "execute_script"})


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, object]:
    name = draw(st.sampled_from(FREE) | st.text(max_size=10))
    if name not in ACTIONS or draw(st.integers(0, 4)) == 0:
        return name, draw(JSON)
    value = {"string": NAMES, "integer": st.integers() | NAMES, "number": st.floats() | NAMES}
    return name, {key: draw(value[argument.type] | JSON) for key, argument in ACTIONS[name].arguments.items()}


def test_no_input_raises(bench: Bench) -> None:
    """One sandbox for all examples; a model that refuses everything stands behind the actions that ask one."""
    examples: list[tuple[str, object]] = []

    @settings(max_examples=150, database=None, suppress_health_check=list(HealthCheck))
    @given(calls())
    def collect(call: tuple[str, object]) -> None:
        examples.append(call)

    collect()

    async def check(path: str) -> str | None:
        return f"{path} is wrong"

    for observation in bench.perform(*examples, check_submission=check):
        observation.encode("utf-8")
        assert len(observation) < 20_100
    assert (bench.data / "train.csv").read_text() == "id,label\n1,2\n"


def test_an_agent_that_calls_tools_gets_the_same(bench: Bench) -> None:
    (bench.workspace / "a.py").write_text("print(6 * 7)")

    async def work(context: ActionContext) -> list[Any]:
        wanted = [("list_files", {}), ("execute_script", {"script_name": "a.py"}), ("read_file", {"file_name": "/etc"})]
        calls = [ToolCall(id=str(n), function=name, arguments=args) for n, (name, args) in enumerate(wanted)]
        message = ChatMessageAssistant(content="", tool_calls=calls)
        return [reply.text for reply in (await execute_tools([message], list(tools(context).values()))).messages]

    assert bench.play(work) == [
        "a.py\ndata/",
        "a.py ended without an error. Output:\n42",
        "/etc is outside the workspace. Only files inside it can be used.",
    ]


def test_limits_of_the_run_are_not_observations(bench: Bench) -> None:
    (bench.workspace / "a.py").write_text("x")
    bench.limits = {"token_limit": 20}
    bench.answers = ["one", "two", "three"]

    async def work(context: ActionContext) -> None:
        for _ in range(3):
            await perform("understand_file", {"file_name": "a.py", "things_to_look_for": "x"}, context)

    with pytest.raises(LimitExceededError):
        bench.play(work)


def test_help_is_offered_only_with_an_operator(bench: Bench) -> None:
    async def person(request: str) -> str:
        if "please" not in request:
            raise ActionError("Nobody answered.")
        return f"You asked: {request}"

    polite, rude = bench.perform(
        ("Request Help", {"request": "help please"}),
        ("Request Help", {"request": "help"}),
        person=person,
    )
    assert polite == "You asked: help please"
    assert rude == "Nobody answered."


@pytest.mark.parametrize(
    ("typed", "observed"),
    [
        ("use 0.1\n", "use 0.1"),
        (":decline\n", "The request was not answered. Continue without help."),
        ("", "The request was not answered. Continue without help."),
    ],
)
def test_the_operator_answers_on_the_terminal(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, typed: str, observed: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert bench.perform(("request_help", {"request": "which [/rate]?"}), person=ask_operator) == [observed]


def test_the_final_answer_is_the_answer(bench: Bench) -> None:
    assert bench.one("Final Answer", final_answer="0.93 on the validation part") == "0.93 on the validation part"


def test_bounded_text_counts_the_omitted_characters() -> None:
    assert bounded("x" * 10, 10) == "x" * 10
    text = bounded("a" * 60 + "b" * 60, 100)
    assert text == "a" * 25 + "\n[... 70 characters left out ...]\n" + "b" * 25
    assert all(len(bounded("x" * 10_000_000, limit)) <= limit for limit in (60, 100, 12_345))
