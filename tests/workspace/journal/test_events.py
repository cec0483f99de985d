"""Actions and observations of any content are cut in the journal and stored in full in the history."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import RecordError
from podium.workspace.budget import Budget, Usage
from podium.workspace.journal.events import (
    MAX_INLINE_CHARACTERS,
    Action,
    ModelCall,
    Step,
    read_all_calls,
    read_full_action,
    read_full_observation,
    shorten,
    shorten_calls,
)
from podium.workspace.journal.journal import Journal, read_journal
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


class Blobs(dict[str, bytes]):
    """A history as far as blobs are concerned."""

    def put(self, data: bytes) -> str:
        self[str(len(self))] = data
        return str(len(self) - 1)


def journalled(action: Action, observation: Observation, blobs: Blobs) -> Step:
    kept, action_blob = shorten(action, blobs.put)
    seen, observation_blob = shorten(observation, blobs.put)
    step = Step(
        time="",
        usage=Usage(),
        action=kept,
        action_blob=action_blob,
        observation=seen,
        observation_blob=observation_blob,
        seconds=0,
        snapshot="",
        state="",
        decision=0,
        index=0,
        count=1,
    )
    return Step.model_validate(step.model_dump(mode="json"))


texts = st.text() | st.integers(1, 3).map(lambda n: "x" * (n * MAX_INLINE_CHARACTERS)) | st.just("half \udcff a pair")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
observations = st.one_of(
    st.builds(TextResult, text=texts),
    st.builds(Refusal, text=texts),
    st.builds(Interruption, cause=texts),
    st.builds(ProgramOutput, script=st.none() | texts, exit_code=st.integers(), stdout=texts, stderr=texts),
    st.builds(ScriptResult, exit_code=st.none() | st.integers(), output=texts, error=st.none() | texts),
    st.builds(SubmissionResult, script=st.integers(), accepted=st.booleans(), reason=texts),
    st.builds(ValidationResult, valid=st.booleans(), error=st.none() | texts),
)


@given(texts, st.dictionaries(st.text(), json_values, max_size=4), observations)
def test_any_action_is_cut_in_the_journal_and_restored_in_full(
    name: str, arguments: dict[str, object], observation: Observation
) -> None:
    action, blobs = Action(name=name, arguments=arguments), Blobs()
    step = journalled(action, observation, blobs)
    assert len(step.model_dump_json(exclude={"action", "observation"})) < MAX_INLINE_CHARACTERS
    assert (step.observation.kind, step.action.name[:9]) == (observation.kind, name[:9])
    assert read_full_action(step, blobs.__getitem__).name == name
    assert read_full_observation(step, blobs.__getitem__) == observation


def test_long_arguments_are_cut_and_many_are_dropped() -> None:
    blobs = Blobs()
    long = Action(name="write_file", arguments={"content": "x" * 10_000, "file_name": "a.py"})
    step = journalled(long, TextResult(text="ok"), blobs)
    assert step.action.arguments["file_name"] == "a.py"
    assert len(step.action.arguments["content"]) == MAX_INLINE_CHARACTERS // 4
    assert read_full_action(step, blobs.__getitem__) == long
    many = Action(name="write_file", arguments={str(n): "x" * 100 for n in range(10_000)})
    step = journalled(many, TextResult(text="ok"), blobs)
    assert step.action == Action(name="write_file")
    assert read_full_action(step, blobs.__getitem__) == many


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}])
def test_arguments_that_are_not_json_are_replaced_by_the_reason(value: object) -> None:
    assert Action(name="x", arguments={"a": value}).arguments.keys() == {"not_json"}


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"kind": "text"}', b'{"name": 1}', b"[" * 100_000])
def test_a_damaged_blob_is_reported(data: bytes) -> None:
    step = journalled(Action(name="x"), TextResult(text=""), Blobs())
    step = step.model_copy(update={"action_blob": "0", "observation_blob": "0"})
    for read in (read_full_action, read_full_observation):
        with pytest.raises(RecordError, match="not an"):
            read(step, lambda blob: data)


@pytest.mark.parametrize(
    ("observation", "text"),
    [
        (ProgramOutput(script="a.py", exit_code=0, stdout="done\n"), "a.py ended without an error. Output:\ndone"),
        (
            ProgramOutput(script="a.py", exit_code=3, stdout="out", stderr="bad"),
            "a.py failed with exit code 3. Output:\nbad",
        ),
        (
            ProgramOutput(script="a.py", exit_code=None, stopped="time limit of 3 s"),
            "a.py was stopped: time limit of 3 s. Output until then:\n(none)",
        ),
        (ProgramOutput(exit_code=1, stdout="out\n", stderr="bad\n"), "exit code 1\nout\nbad"),
        (SubmissionResult(script=4, accepted=True), "The submission is now the one of script 4."),
        (SubmissionResult(script=4, accepted=False, reason="cp: no file"), "cp: no file"),
        (ValidationResult(valid=True), "Submission is valid."),
        (ValidationResult(valid=False, error="row 3"), "Submission is invalid: row 3"),
        (Interruption(cause="working time"), "The action was stopped because the run ended. Cause: working time."),
    ],
)
def test_observations_have_a_text_for_models(observation: Observation, text: str) -> None:
    assert observation.text == text


def test_usage_names_the_part_of_the_budget_that_is_used_up() -> None:
    usage = Usage(working_s=10, wall_s=20, steps=3, tokens=100, cost=0.5)
    assert usage.exceeded(Budget()) is None
    assert usage.exceeded(Budget(time_s=11, steps=4)) is None
    assert usage.exceeded(Budget(time_s=10)) == "working time"
    assert usage.exceeded(Budget(wall_s=20)) == "time"
    assert usage.exceeded(Budget(cost=0.5, steps=3)) == "steps"


def test_a_step_with_thousands_of_model_calls_fits_into_the_journal(tmp_path: Path) -> None:
    blobs = Blobs()
    calls = tuple(ModelCall(model="m", request_sha256="0" * 64, response_id="\udcff" * 200) for _ in range(10_000))
    step = journalled(Action(name="run"), TextResult(text="done"), blobs)
    kept, blob = shorten_calls(calls, blobs.put)
    with Journal.open(tmp_path / "steps.jsonl") as journal:
        journal.append(step.model_copy(update={"calls": kept, "calls_blob": blob}))
    read = read_journal(tmp_path / "steps.jsonl").last
    assert isinstance(read, Step) and read_all_calls(read, blobs.__getitem__) == calls
    assert shorten_calls(calls[:10], blobs.put) == (calls[:10], None)
