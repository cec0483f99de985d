"""Conformance checks for agents, also for tests of other packages: `check(MyAgent)`.

The agent works on a small built-in task without a sandbox: every action is answered with a fabricated observation.
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from podium.actions import ACTIONS, ActionError
from podium.agents.base import Agent, Assignment, Remaining, State
from podium.metrics import accuracy
from podium.task import Columns, Starter, Task
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import (
    Interruption,
    Observation,
    ProgramOutput,
    Refusal,
    ScriptResult,
    SubmissionResult,
    TextResult,
    ValidationResult,
)

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, ModelOutput
    from inspect_ai.tool import ToolInfo

AnswerRequest = Callable[[Sequence["ChatMessage"], Sequence["ToolInfo"]], "str | ModelOutput"]
"""Scripted model; equal requests must get equal answers."""


def check(
    agent: type[Agent[Any]],
    *,
    options: Mapping[str, str] | None = None,
    answer: AnswerRequest | None = None,
    steps: int = 10,
) -> list[Action]:
    """Check the properties that runs rely on after each decision, and return the agent's actions.

    Args:
        options: options as given on the command line.
        answer: scripted model. By default a model whose answers are never usable.
        steps: maximum number of decisions to check.

    Raises:
        AssertionError: the agent violates a property; the message names it.
    """
    _check_description(agent)
    decided: list[Action] = []
    with tempfile.TemporaryDirectory(prefix="podium-conformance-") as folder:
        assignment = _assignment(
            Path(folder, "public"), starter=Path(folder, "starter") if agent.needs_starter else None
        )

        def make() -> Agent[Any]:
            return agent(assignment, agent.Options.model_validate(dict(options or {})))

        async def work() -> None:
            decided.extend(await _work(make, steps))

        if agent.needs_model or answer is not None:
            _with_model(work, answer or (lambda messages, tools: "I do not know what to do."), Path(folder, "logs"))
        else:
            anyio.run(work)
    return decided


def _check_description(agent: type[Agent[Any]]) -> None:
    assert inspect.getdoc(agent) and agent.__doc__, "the class has no docstring for `podium agents` to show"
    assert issubclass(agent.State, State), "State does not inherit from podium.agents.base.State"
    for name, field in agent.Options.model_fields.items():
        assert field.description, f"the option '{name}' has no description"
    for name, description in agent.roles.items():
        assert description, f"the role '{name}' has no description"


async def _work(make: Callable[[], Agent[Any]], steps: int) -> list[Action]:
    agent = make()
    state, decided = agent.begin(), []
    assert agent.begin() == state, "begin() is not deterministic"
    assert (folder := agent.files()) is None or folder.is_dir(), f"files() returns {folder}, which is not a folder"
    assert all(isinstance(text, str) for pair in agent.environment().items() for text in pair)
    for _ in range(steps):
        before = _reload(state)
        actions = list(await agent.decide(state))
        resumed = make()
        assert list(await resumed.decide(before)) == actions, "decide() returns different actions after a resume"
        if not actions:
            break
        for action in actions:
            _check_action(action)
        state = _observe(agent, resumed, _reload(state), actions)
        assert isinstance(agent.headline(state), str | None), "headline() returns neither a string nor None"
        decided += actions
    return decided


def _reload(state: State) -> State:
    loaded = type(state).model_validate_json(state.model_dump_json())
    assert loaded == state, f"the state changes when it is saved as JSON and loaded: {state!r}"
    return loaded


def _check_action(action: Action) -> None:
    assert action.name in ACTIONS, f"there is no action '{action.name}'"
    try:
        ACTIONS[action.name].check(action.arguments)
    except ActionError as error:
        raise AssertionError(f"an action would be refused: {error}") from error


def _observe(agent: Agent[Any], resumed: Agent[Any], state: State, actions: Sequence[Action]) -> State:
    """Check `observe` with failed and successful actions, and return the state after success."""
    before, states = state.model_dump_json(), []
    for failure in (Refusal(text="The action failed."), Interruption(cause="working time"), None):
        observations = [failure or _success(action) for action in actions]
        after = agent.observe(state, actions, observations)
        assert state.model_dump_json() == before, "observe() modifies the state that it receives"
        assert agent.observe(state, actions, observations) == after, "observe() is not deterministic"
        assert resumed.observe(_reload(state), actions, observations) == after, (
            "observe() depends on more than the state"
        )
        states.append(_reload(after))
    return states[-1]


def _success(action: Action) -> Observation:
    match action.name:
        case "try_script":
            score = 0.5 + 0.01 * (int(action.arguments["number"]) % 50)
            return ScriptResult(exit_code=0, output=f"podium-metric: {score}", seconds=1.0, metric=score, valid=True)
        case "submit_script":
            return SubmissionResult(script=int(action.arguments["number"]), accepted=True)
        case "validate_submission":
            return ValidationResult(valid=True)
        case "execute_script" | "run_command":
            return ProgramOutput(script=action.arguments.get("script_name"), exit_code=0, stdout="done\n")
    return TextResult(text=f"{action.name} was done.")


def _assignment(public: Path, *, starter: Path | None) -> Assignment:
    """Create a task with a small table and, optionally, starter code."""
    public.mkdir()
    rows = [f"{number},{number % 7},{'abc'[number % 3]},{number % 2}" for number in range(60)]
    tables = {
        "train.csv": ["id,size,colour,label", *rows],
        "test.csv": ["id,size,colour", *(f"{number},{number % 5},a" for number in range(60, 90))],
        "sample_submission.csv": ["id,label", *(f"{number},0" for number in range(60, 90))],
        "description.md": ["Predict the label of each row of test.csv."],
    }
    for name, lines in tables.items():
        (public / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    form = Columns(id="id", target="label", values=int)
    task = Task(id="conformance", title="Conformance", kind="tabular", metric=accuracy, submission=form)
    if starter is not None:
        starter.mkdir()
        (starter / "train.py").write_text("epochs = 3\nprint('accuracy: 0.5')\n", encoding="utf-8")
        task.starter = Starter(starter, "train.py")
    return Assignment(task, 0, "Predict the labels.", public, lambda: Remaining(time_s=3600.0, steps=100))


def _with_model(work: Callable[[], Awaitable[None]], answer: AnswerRequest, logs: Path) -> None:
    """Run the work inside an Inspect evaluation in which one function plays all models."""
    from inspect_ai import Task as InspectTask
    from inspect_ai import eval as inspect_eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import Generate, Solver, TaskState, solver

    failures: list[Exception] = []

    def respond(messages: list[ChatMessage], tools: list[ToolInfo], *_: object) -> ModelOutput:
        said = answer(messages, tools)
        output = ModelOutput.from_content("mockllm", said) if isinstance(said, str) else said
        output.usage = output.usage or ModelUsage()  # or Inspect would look for a tokenizer on the network
        return output

    @solver
    def working() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            try:
                await work()
            except Exception as error:  # noqa: BLE001 (raised again outside Inspect, which would log it)
                failures.append(error)
            return state

        return solve

    task = InspectTask(dataset=MemoryDataset([Sample(input="-")]), solver=working())
    model = get_model("mockllm/model", memoize=False, custom_outputs=respond)
    inspect_eval(task, model=model, display="none", log_dir=str(logs), log_realtime=False)
    if failures:
        raise failures[0]
