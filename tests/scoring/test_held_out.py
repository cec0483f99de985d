"""Hidden evaluation: rows set aside, scored by Podium, and what that does to leaks and false reports."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import driving
import numpy as np
import pandas as pd
import pytest
from driving import verified
from model_server import Reply, Request, serving, text_of

from podium import api
from podium.catalog.forge.families import WORLD_FAMILIES
from podium.catalog.registry import load, resolve
from podium.grading.prepared_task import PreparedTask
from podium.runs.records import Plan
from podium.runs.run_folder import RunFolder
from podium.runs.steps import Steps
from podium.sandbox.backend import find_backend
from podium.sandbox.inspect_provider import PodiumSandbox
from podium.sandbox.spec import SandboxSpec
from podium.scoring.held_out_scores import HeldOutScoring
from podium.scoring.held_out_split import PARTS, HeldOut, NotDivisibleError, set_aside
from podium.verify.check_grade import OwnData, grade_problems
from podium.verify.check_held_out import held_out_problems
from podium.verify.run_evidence import read_evidence, scored_steps
from podium.workspace.budget import Budget
from podium.workspace.history.extract_file import Extracted
from podium.workspace.history.history import History
from podium.workspace.journal.observations import ScriptResult

TASK = "forge-tabular-classification-medium-101"
DIVISIBLE = (
    *("tables-classification", "tables-regression", "survival", "ordinal", "multi-label", "quantiles"),
    *("sequence-labelling", "log-classification"),
)
"""Families whose tiny tasks have at least 100 training rows in one table, with labels as they are submitted."""
ROW, OUTCOME = (names[0] for names in (load(TASK).form.ids, load(TASK).form.targets))

HONEST = """
import os
import pandas as pd
from sklearn.linear_model import LogisticRegression
data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(data + "/train.csv"), pd.read_csv(data + "/test.csv")
row, outcome = pd.read_csv(data + "/sample_submission.csv").columns
columns = [name for name in test.select_dtypes("number") if name != row]
model = LogisticRegression(max_iter=200).fit(train[columns].fillna(0), train[outcome])
chances = model.predict_proba(test[columns].fillna(0))[:, 1]
pd.DataFrame({row: test[row], outcome: chances}).to_csv("submission.csv", index=False)
print("podium-metric: 0.60")
"""
BOASTFUL = """
import os, zlib
import pandas as pd
sample = pd.read_csv(os.environ["PODIUM_DATA"] + "/sample_submission.csv")
sample.iloc[:, 1] = [zlib.crc32(str(name).encode()) % 1000 / 1000 for name in sample.iloc[:, 0]]
sample.to_csv("submission.csv", index=False)
print("podium-metric: 0.99")
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    api.prepare(TASK, data_dir=folder)
    return folder


@pytest.fixture
def held_out(tmp_path: Path, data: Path) -> HeldOut:
    return set_aside(tmp_path / "held-out", resolve(TASK, data_dir=data), (0.1, 0.1), 0)


def ids(path: Path) -> set[str]:
    return set(pd.read_csv(path, dtype=str)[ROW])


def test_rows_move_from_training_to_test_without_their_labels(held_out: HeldOut) -> None:
    public = held_out.prepared.place.public
    before, after = ids(public / "train.csv"), ids(held_out.public / "train.csv")
    moved = {name: {row[0] for row in rows} for name, rows in held_out.ids.items()}
    assert before - after == moved["search"] | moved["selection"] and not moved["search"] & moved["selection"]
    assert ids(held_out.public / "test.csv") == ids(public / "test.csv") | (before - after)
    assert ids(held_out.public / "sample_submission.csv") == ids(held_out.public / "test.csv")
    assert OUTCOME not in pd.read_csv(held_out.public / "test.csv")
    labels = pd.read_csv(public / "train.csv").set_index(ROW)[OUTCOME]
    for name in PARTS:
        part = pd.read_csv(held_out.folder / name / "private" / "test.csv").set_index(ROW)[OUTCOME]
        assert part.equals(labels[part.index]) and part.mean() == pytest.approx(labels.mean(), abs=0.02)


def test_the_same_seed_sets_the_same_rows_aside(held_out: HeldOut, tmp_path: Path) -> None:
    again = set_aside(tmp_path / "again", held_out.prepared, (0.1, 0.1), 0)
    assert again.ids == held_out.ids
    assert set_aside(tmp_path / "other", held_out.prepared, (0.1, 0.1), 1).ids != held_out.ids


def test_labels_score_best_and_a_constant_scores_nothing(held_out: HeldOut) -> None:
    truth = pd.read_csv(held_out.folder / "search" / "public" / "sample_submission.csv", dtype=str)
    assert held_out.score(truth, "search") == 1.0
    assert held_out.score(truth.assign(**{OUTCOME: "0.5"}), "search") == 0.5
    assert held_out.score(truth[1:], "search") is None, "a row is missing"


def test_few_rows_are_not_set_aside(held_out: HeldOut, tmp_path: Path) -> None:
    with pytest.raises(NotDivisibleError, match="fewer than 30"):
        set_aside(tmp_path / "few", held_out.prepared, (0.005, 0.1), 0)


def with_training_rows(
    prepared: PreparedTask, folder: Path, change: Callable[[pd.DataFrame], pd.DataFrame]
) -> PreparedTask:
    shutil.copytree(prepared.place.root, folder)
    path = folder / "public" / "train.csv"
    change(pd.read_csv(path)).to_csv(path, index=False)
    return replace(prepared, place=replace(prepared.place, root=folder))


def test_no_copy_of_a_row_that_is_set_aside_stays_in_training(data: Path, tmp_path: Path) -> None:
    twice = with_training_rows(
        resolve(TASK, data_dir=data), tmp_path / "twice", lambda train: pd.concat([train, train])
    )
    found = set_aside(tmp_path / "held-out", twice, (0.1, 0.1), 0)
    test = pd.read_csv(found.public / "test.csv", dtype=str)
    assert not test[ROW].duplicated().any() and not set(test[ROW]) & ids(found.public / "train.csv")
    assert pd.read_csv(found.public / "train.csv", dtype=str)[ROW].value_counts().eq(2).all()


def test_ids_that_different_training_rows_share_are_refused(data: Path, tmp_path: Path) -> None:
    def shared(train: pd.DataFrame) -> pd.DataFrame:
        return pd.concat([train, train.assign(**{OUTCOME: 1 - train[OUTCOME]})])

    with pytest.raises(NotDivisibleError, match="same id"):
        twice = with_training_rows(resolve(TASK, data_dir=data), tmp_path / "twice", shared)
        set_aside(tmp_path / "held-out", twice, (0.1, 0.1), 0)


def test_where_quantiles_are_asked_for_the_label_is_the_truth_for_each(tmp_path: Path) -> None:
    task = "forge-quantiles-tiny-1"
    api.prepare(task, data_dir=tmp_path)
    found = set_aside(tmp_path / "held-out", resolve(task, data_dir=tmp_path), (0.3, 0.3), 0)
    truth = pd.read_csv(found.folder / "search" / "public" / "sample_submission.csv")
    assert found.score(truth, "search") == 0.0
    assert (found.score(truth.assign(q10=truth["q10"] + 1), "search") or 0) == pytest.approx(0.3, rel=1e-6)


@pytest.mark.parametrize("family", WORLD_FAMILIES)
def test_rows_of_any_family_are_held_out_or_the_reason_is_named(family: str, tmp_path: Path) -> None:
    task = f"forge-{family}-tiny-1"
    api.prepare(task, data_dir=tmp_path)
    try:
        found = set_aside(tmp_path / "held-out", resolve(task, data_dir=tmp_path), (0.3, 0.3), 0)
    except NotDivisibleError as error:
        assert str(error) and family not in DIVISIBLE, error
    else:
        assert all(found.ids.values())


@pytest.mark.parametrize(
    "written", [lambda times: times.strftime("%d.%m.%Y %H.%M"), lambda times: times.dayofyear.astype(str)]
)
def test_where_test_comes_later_the_last_rows_are_set_aside(
    data: Path, tmp_path: Path, written: Callable[[pd.DatetimeIndex], pd.Index]
) -> None:
    prepared = resolve(TASK, data_dir=data)
    root = tmp_path / "data"
    shutil.copytree(prepared.place.root, root)
    public = root / "public"
    train, test = (pd.read_csv(public / name) for name in ("train.csv", "test.csv"))
    early = pd.date_range("2022-01-03", "2022-09-30", periods=len(train))[
        np.random.default_rng(0).permutation(len(train))
    ]
    train["time"] = written(early)
    unknown = early.argmin()
    train.loc[unknown, "time"] = "unknown" if "." in train["time"][unknown] else ""
    test["time"] = written(pd.date_range("2022-10-01", "2022-12-20", periods=len(test)))
    train.to_csv(public / "train.csv", index=False)
    test.to_csv(public / "test.csv", index=False)
    prepared = replace(prepared, place=replace(prepared.place, root=root))
    set_aside(tmp_path / "held-out", prepared, (0.1, 0.1), 0)
    moved = ~train[ROW].isin(ids(tmp_path / "held-out" / "public" / "train.csv")).to_numpy()
    days = early.normalize()
    assert moved.sum() == 2 * int(0.1 * len(train)) and days[moved].min() >= days[~moved].max()


def test_what_a_script_leaves_in_the_way_of_its_score_costs_the_score_and_not_the_run(
    held_out: HeldOut, tmp_path: Path
) -> None:
    sample = (held_out.public / "sample_submission.csv").read_bytes()
    workspace = tmp_path / "workspace"
    folders = {"good": sample, "blocked": sample, "long": sample * 3 + b"x,0\n" * 1000, "odd": b"a,b\n"}
    for name, content in folders.items():
        (workspace / name).mkdir(parents=True)
        (workspace / name / "submission.csv").write_bytes(content)
    (workspace / "blocked" / "predictions.csv").mkdir()
    (workspace / "submission").touch()

    async def take_all() -> dict[str, bool]:
        with find_backend("bubblewrap").open(SandboxSpec(workspace=workspace)) as sandbox:
            scoring = HeldOutScoring(held_out, PodiumSandbox(sandbox))
            found = {name: (await scoring.take(name))[0] is not None for name in folders}
            with pytest.raises(ValueError, match="cannot be written"):
                await scoring.submit_ensemble(["good"])
            return found

    assert anyio.run(take_all) == {"good": True, "blocked": False, "long": False, "odd": False}


def coder(request: Request, rng: Any) -> Reply:
    script = BOASTFUL if "No approach" in text_of(request) or "Score" in text_of(request) else HONEST
    return Reply(f"A plan.\n```python\n{script}\n```")


@pytest.mark.parametrize(
    ("agent", "options", "is_fooled"),
    [
        pytest.param("aide", {}, True, marks=pytest.mark.slow),
        pytest.param("aide", {"evaluation": "held-out"}, False, marks=pytest.mark.slow),
        ("frontier", {}, False),
    ],
)
def test_who_only_claims_to_be_good_wins_nothing_on_rows_set_aside(
    agent: str, options: dict[str, str], is_fooled: bool, tmp_path: Path, data: Path
) -> None:
    with serving(coder) as server:
        plan = Plan(
            agent=agent,
            options={"nodes": "2", "drafts": "2", **options},
            model="openai-api/podium/scripted",
            model_base_url=server.url,
            budget=Budget(time_s=120),
            data_dir=data,
        )
        row = driving.drive(tmp_path / "run", plan, TASK)
    assert row.record is not None and row.record.valid, row.record
    assert isinstance(row.record.score, float) and (row.record.score < 0.55) is is_fooled
    steps = Steps(row.folder)
    results = [found for n in range(1, len(steps.all) + 1) if isinstance(found := steps.observation(n), ScriptResult)]
    assert [result.metric for result in results] == [0.6, 0.99]
    if not is_fooled:
        honest, boastful = (result.search_score for result in results)
        assert honest is not None and boastful is not None and honest > 0.6 > boastful
        assert all(result.selection_score is not None for result in results)
        check_verified(row.folder, data)


class Garbled:
    """A history in whose snapshots an agent has left predictions that are no table."""

    def __init__(self, history: History) -> None:
        self._history = history

    def extract(self, commit: str, path: str, target: Path, limit_bytes: int) -> Extracted:
        found = self._history.extract(commit, path, target, limit_bytes)
        target.write_bytes(b"\xff\x00,\n")
        return found


def check_verified(folder: RunFolder, data: Path) -> None:
    """Verifying finds the scores again where there are no answers, and scores that are not those of the rows."""
    verdict = verified(folder)
    assert verdict.passed and verdict.checks["held-out"] == "ok", verdict.checks
    assert "began with" not in verdict.result
    evidence = read_evidence(folder)
    own = OwnData.find(evidence, data_dir=data, env=None)
    with tempfile.TemporaryDirectory() as empty, folder.read_history() as history:
        Path(empty, "public").symlink_to(own.prepared.place.public.resolve())
        place = replace(own.prepared.place, root=Path(empty))
        alone = replace(own, prepared=replace(own.prepared, place=place))
        assert not list(held_out_problems(evidence, alone, history)), "the public data is enough"
        first = scored_steps(evidence)[0]
        better = first.model_copy(update={"observation": first.observation.model_copy(update={"search_score": 0.99})})
        false = replace(evidence, events=[better if event is first else event for event in evidence.events])
        [problem] = held_out_problems(false, own, history)
        unreadable = held_out_problems(evidence, own, Garbled(history))  # type: ignore[arg-type]
        assert "its predictions cannot be read" in next(unreadable)
    assert problem.startswith("script 0 has a recorded search score of 0.99, but its predictions score 0.")
    record = evidence.record.model_copy(update={"fallback": True})
    with folder.read_history() as history:
        problems = list(grade_problems(replace(evidence, record=record), own, history))
    assert problems == ["fallback differs: True in run.json, False in the snapshots"]
