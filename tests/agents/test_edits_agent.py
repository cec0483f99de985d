"""The agent that improves starter code without a model: what it reads, what it tries, what it keeps."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from podium.agents.base import Assignment, Remaining
from podium.agents.default_agent import choose_agent, mismatch_reason
from podium.agents.edits.edits_agent import Edits, EditsOptions, EditsState
from podium.agents.edits.program_feedback import find_examples, read_score, scores_of_examples, standard_error
from podium.catalog.registry import load
from podium.metrics import accuracy
from podium.task import Files, Starter, Task, research_task
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import Observation, ProgramOutput, Refusal

TRAIN = """\
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import train_test_split

X_train, X_test, y_train, y_test = train_test_split(*load_iris(return_X_y=True), random_state=0)
model = DummyClassifier().fit(X_train, y_train)
print(f"accuracy: {model.score(X_test, y_test):.4f}")
"""


@pytest.fixture
def task(tmp_path: Path) -> Task:
    (tmp_path / "starter").mkdir()
    (tmp_path / "starter" / "train.py").write_text(TRAIN)
    return research_task(
        "iris",
        title="Iris",
        kind="folder",
        metric=accuracy.using(title="accuracy"),
        submission=Files(names=("./",)),
        starter=Starter(tmp_path / "starter", "train.py"),
        first="fixed",
    )


def agent_on(task: Task, tmp_path: Path, remaining: Remaining | None = None, trials: int = 60) -> Edits:
    left = remaining or Remaining(time_s=3600.0, steps=50)
    return Edits(Assignment(task, 0, "", tmp_path, lambda: left), EditsOptions(trials=trials))


def decide(agent: Edits, state: EditsState) -> list[Action]:
    return list(anyio.run(agent.decide, state))


def printed(text: str, exit_code: int = 0) -> ProgramOutput:
    return ProgramOutput(exit_code=exit_code, stdout=text)


def after(agent: Edits, *observations: Observation) -> EditsState:
    """The state after actions that came back with these observations."""
    state = agent.begin()
    for observation in observations:
        [action] = decide(agent, state)
        state = agent.observe(state, [action], [observation])
    return state


def test_the_starter_is_run_twice_and_kept_before_it_is_changed(task: Task, tmp_path: Path) -> None:
    agent = agent_on(task, tmp_path)
    state = after(agent, printed("accuracy: 0.5"), printed(""), printed("accuracy: 0.52"), printed(""))
    assert state.best == 0.52 or state.best == 0.5
    assert [trial.title for trial in state.trials] == ["Run the unchanged starter code."] * 2
    [action] = decide(agent, state)
    assert "Use boosted trees instead of DummyClassifier." in action.arguments["command"]
    assert "HistGradientBoostingClassifier" in action.arguments["command"]


def test_a_gain_within_the_noise_of_the_starter_is_not_kept(task: Task, tmp_path: Path) -> None:
    agent = agent_on(task, tmp_path)
    start = (printed("accuracy: 0.55"), printed(""), printed("accuracy: 0.5"))
    assert after(agent, *start, printed("accuracy: 0.59")).better is None
    better = after(agent, *start, printed("accuracy: 0.61")).better
    assert better is not None
    assert better.score == 0.61


@pytest.mark.parametrize("bad", [printed("", 1), printed("no score"), Refusal(text="no"), printed("accuracy: nan")])
def test_what_fails_is_noted_and_not_tried_again(task: Task, tmp_path: Path, bad: Observation) -> None:
    agent = agent_on(task, tmp_path)
    state = after(agent, printed("accuracy: 0.5"), printed(""), printed("accuracy: 0.5"), bad)
    assert state.trials[-1].problem
    assert state.better is None
    [action] = decide(agent, state)
    assert action.arguments["command"].startswith("# Average ten models")


def test_what_could_not_be_kept_is_tried_again(task: Task, tmp_path: Path) -> None:
    agent = agent_on(task, tmp_path)
    state = after(agent, printed("accuracy: 0.5"), printed(""), printed("accuracy: 0.5"), printed("accuracy: 0.9"))
    [keep] = decide(agent, state)
    lost = agent.observe(state, [keep], [printed("", 1)])
    assert lost.best == 0.5
    assert "boosted trees" in decide(agent, lost)[0].arguments["command"]
    kept = agent.observe(state, [keep], [printed("")])
    assert kept.best == 0.9
    assert "HistGradientBoosting" in kept.sources["train.py"]


@pytest.mark.parametrize("remaining", [Remaining(steps=1), Remaining(time_s=1.0)])
def test_nothing_is_begun_that_cannot_be_kept(task: Task, tmp_path: Path, remaining: Remaining) -> None:
    assert decide(agent_on(task, tmp_path, remaining), EditsState()) == []


def test_the_number_of_trials_is_limited(task: Task, tmp_path: Path) -> None:
    agent = agent_on(task, tmp_path, trials=1)
    state = after(agent, printed("accuracy: 0.5"), printed(""), printed("accuracy: 0.5"), printed("accuracy: 0.1"))
    assert decide(agent, state) == []


def test_an_edit_really_is_tried_and_kept(task: Task, tmp_path: Path) -> None:
    """The commands of the agent, carried out in a folder that is laid out as a workspace."""
    assert task.starter is not None
    home, starter = tmp_path / "home", "limit = 1\nprint(f'accuracy: {1 - 1 / limit}')\n"
    for name in ("data", "code", "submission"):
        (home / name).mkdir(parents=True)
    for folder in (home, task.starter.folder):
        (folder / "train.py").write_text(starter)
    agent = agent_on(task, tmp_path, trials=3)
    (home / "agent").symlink_to(str(agent.files()))
    environment = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "TMPDIR": str(tmp_path)}
    state = agent.begin()
    while actions := decide(agent, state):
        command = ["sh", "-c", actions[0].arguments["command"]]
        done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, timeout=600)
        result = ProgramOutput(exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr)
        state = agent.observe(state, actions, [result])
    assert [trial.score for trial in state.trials] == [0.0, 0.0, 0.5, 0.75, 0.875]
    assert (home / "train.py").read_text().startswith("limit = 8\n")
    assert sorted(path.name for path in home.iterdir()) == ["agent", "code", "data", "submission", "train.py"]


@pytest.mark.parametrize("task_id", ["vectorization", "llama-inference"])
def test_starter_code_is_submitted_unchanged_when_only_speed_counts(task_id: str, tmp_path: Path) -> None:
    agent, slow = agent_on(load(task_id), tmp_path), load(task_id)
    assert slow.starter is not None
    [action] = decide(agent, agent.begin())
    title, _, *program = action.arguments["command"].splitlines()
    assert title == "# Run the unchanged starter code: no known edit makes it faster."
    source = (slow.starter.folder / slow.starter.script).read_text(encoding="utf-8")
    assert program == [*source.splitlines(), "END-OF-THE-FILE"]
    assert decide(agent, after(agent, printed("", 1))) == [], "a starter that fails is not repeated"
    assert "trial.py keep" in decide(agent, after(agent, printed("")))[0].arguments["command"]
    state = after(agent, printed(""), printed(""))
    assert decide(agent, state) == []
    assert state.sources == {slow.starter.script: source}
    assert agent.headline(state) == "unchanged starter code; no known edit applies"


@pytest.mark.parametrize(
    ("task_id", "output", "score"),
    [
        ("house-price", "Train MAE: 10,000\nValidation MAE: 20,123\npodium-seconds: 3.2\n", 20123.0),
        ("mlab-spaceship-titanic", "Train accuracy: 0.9\nValidation accuracy: 0.8\nloss: 0.3\n", 0.8),
        ("feedback", "cohesion: RMSE 0.6\nMCRMSE: 0.65\n", 0.65),
        ("parkinsons-disease", "updrs_1: SMAPE+1 of the folds [1. 2.]\nMean SMAPE+1: 91.2\n", 91.2),
        ("house-price", "Train MAE: 10\n", None),
    ],
)
def test_the_validation_score_is_found_in_the_output_of_starters(
    task_id: str, output: str, score: float | None
) -> None:
    assert read_score(output, load(task_id)) == score


def test_examples_are_found_with_how_a_program_is_called(tmp_path: Path) -> None:
    (tmp_path / "papers.jsonl").write_text(json.dumps({"id": "p-1", "title": "On x"}) + "\n")
    case = {"id": 0, "question": "What is x?", "papers": ["p-1"]}
    (tmp_path / "questions.jsonl").write_text(json.dumps(case) + "\n")
    found = find_examples("review.py", '"""Answers: python review.py "QUESTION" REPORT.md"""', tmp_path)
    assert found is not None
    assert (found.examples, found.input, found.expected) == ("data/questions.jsonl", "question", "papers")
    assert found.arguments == (None, "report.md")
    assert find_examples("review.py", '"""Answers."""', tmp_path) is None


def test_a_gain_on_few_examples_has_to_be_more_than_chance() -> None:
    few, many = [0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]
    assert sum(many) / 4 - sum(few) / 4 < standard_error(many, few)
    assert standard_error([0.5, 0.6, 0.7], [0.1, 0.2, 0.3]) == pytest.approx(0.0, abs=1e-9)
    assert standard_error([0.5], [0.1]) == standard_error([], [0.1]) == 0.0
    assert scores_of_examples("scores: 0.5 0.25\nexamples: 0.375\n") == [0.5, 0.25]


def test_it_is_the_default_where_there_is_starter_code() -> None:
    assert choose_agent([load("vectorization"), load("house-price")]) == "edits"
    assert mismatch_reason("edits", load("spaceship-titanic")) == "it improves starter code, and this task has none"


def test_commands_hold_nothing_that_a_shell_would_read(task: Task, tmp_path: Path) -> None:
    [action] = decide(agent_on(task, tmp_path), EditsState())
    first, second, *_ = action.arguments["command"].splitlines()
    assert first == "# Run the unchanged starter code."
    assert second.endswith("<<'END-OF-THE-FILE'")
