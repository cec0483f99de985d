"""The programs that contend with agents: any task of tables is read as one, and scripts of the scripted coder work."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import pytest
from answering import answers
from learners import fit_linear
from PIL import Image
from reading import NotATable, find_metric, forbidden_columns, read_problem
from scripted_coder import in_one_piece, next_settings, settings_of

ROWS = 60
QUICK = {"linear": {"alpha": 1.0}, "tree": {"max_depth": 3}}
"""Models that are fitted at once."""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A task with a table of parents in an archive, records as JSON lines, dates, and a forbidden column."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "id": [f"r{number}" for number in range(2 * ROWS)],
            "shop": rng.choice(["s1", "s2", "s3"], 2 * ROWS),
            "day": [f"2020/01/{1 + number % 28:02d} 10.15" for number in range(2 * ROWS)],
            "size": rng.normal(size=2 * ROWS),
        }
    )
    rows["target"] = (rows["size"] > 0).astype(int)
    rows["closing"] = rows["target"]
    rows[:ROWS].to_csv(tmp_path / "train.csv", index=False)
    rows[ROWS:].drop(columns="target").to_csv(tmp_path / "test.csv", index=False)
    rows[ROWS:][["id"]].assign(target=0.5).to_csv(tmp_path / "sample_submission.csv", index=False)
    with zipfile.ZipFile(tmp_path / "more.zip", "w") as archive:
        archive.writestr("shops.csv", "shop,staff\ns1,1\ns2,2\ns3,3\n")
    records = pd.DataFrame({"shop": ["s1", "s1", "s2", "s3"], "sales": [1.0, 3.0, 5.0, 7.0]})
    records.to_json(tmp_path / "sales.jsonl", orient="records", lines=True)
    text = (
        "# Shops\n- The rules forbid `closing`.\n## Scoring\nThe area under the ROC curve.\n## Format\nF1 of nothing.\n"
    )
    (tmp_path / "description.md").write_text(text, encoding="utf-8")
    return tmp_path


def test_parents_are_joined_and_records_summed_up(data: Path) -> None:
    problem = read_problem(data)
    train = pd.read_csv(data / "train.csv")
    columns = [problem.train[name] for name in problem.train if problem.train[name].dtype == float]
    staff, mean = train["shop"].map({"s1": 1, "s2": 2, "s3": 3}), train["shop"].map({"s1": 2.0, "s2": 5.0, "s3": 7.0})
    assert any(np.array_equal(column, staff) for column in columns)
    assert any(np.array_equal(column, mean) for column in columns)
    assert any(set(column) == {float(day % 28) for day in range(28)} for column in columns), "days since the first"


def test_pictures_that_only_some_rows_have_are_read(data: Path) -> None:
    rng = np.random.default_rng(0)
    for number in range(10):
        Image.fromarray(rng.integers(0, 255, (16, 16)).astype(np.uint8)).save(data / f"{number}.png")
    paths = [None, *(f"{number % 10}.png" for number in range(ROWS - 2)), None]
    for file in ("train.csv", "test.csv"):
        pd.read_csv(data / file).assign(photo=paths).to_csv(data / file, index=False)
    problem = read_problem(data)
    pixels = problem.train.loc[:, problem.train.isna().any()]
    assert np.array_equal(pixels.iloc[5], np.asarray(Image.open(data / "4.png"), dtype=float).ravel())
    assert list(pixels.index[pixels.isna().all(axis=1)]) == [0, ROWS - 1]


def test_a_forbidden_column_is_left_out_and_the_metric_is_that_of_its_section(data: Path) -> None:
    problem = read_problem(data)
    assert problem.metric == "roc_auc"
    assert not any(np.array_equal(problem.train[name], problem.targets[0].values) for name in problem.train)


@pytest.mark.parametrize(
    ("said", "metric"),
    [
        ("## Metric\nRoot mean squared error", "rmse"),
        ("# A\nsauces\n## Evaluation\nMean absolute error.", "mae"),
        ("## How entries are judged\nThe share of steps with the right state.", "accuracy"),
        ("nothing", None),
    ],
)
def test_a_metric_is_found_by_its_words(said: str, metric: str | None) -> None:
    assert find_metric(said) == metric


def test_only_sentences_with_a_rule_forbid_columns() -> None:
    assert forbidden_columns("- `a` is a number.\n- Using `b` is against the rules.\n") == {"b"}


def test_what_cannot_be_learnt_is_not_a_table(data: Path) -> None:
    train = pd.read_csv(data / "train.csv").assign(target=0)
    train.to_csv(data / "train.csv", index=False)
    with pytest.raises(NotATable, match="same in all rows"):
        read_problem(data)


def test_a_learner_answers_in_the_form_of_the_submission(data: Path) -> None:
    problem = read_problem(data)
    truth = pd.read_csv(data / "test.csv")["size"] > 0
    said = answers(problem, problem.targets[0], fit_linear, 1.0)["target"]
    assert said[truth].min() > said[~truth].max() - 0.2
    assert said[truth].mean() > said[~truth].mean() + 0.5


def test_a_script_of_the_coder_runs_alone_and_says_its_score(data: Path, tmp_path: Path) -> None:
    settings = {"parts": [{"kind": kind, "options": options} for kind, options in QUICK.items()]}
    script = f"{in_one_piece()}\n\ncarry_out({settings!r}, higher_is_better=True)\n"
    assert settings_of(script) == settings
    path = tmp_path / "script.py"
    path.write_text(script, encoding="utf-8")
    command = [sys.executable, "-I", str(path)]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PODIUM_DATA": str(data), "OMP_NUM_THREADS": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert 0 < float(done.stdout.split("podium-metric:")[1]) <= 1
    assert pd.read_csv(tmp_path / "submission.csv").shape == (ROWS, 2)


def test_the_coder_debugs_changes_one_setting_and_averages() -> None:
    draft = next_settings("draft", [], Random(3))
    assert next_settings("debug", [{**draft, "crashes": True}], Random(0)) == {**draft, "crashes": False}
    better = next_settings("improve", [draft], Random(0))
    assert sum(better["options"][name] != value for name, value in draft["options"].items()) == 1
    assert next_settings("merge", [draft, better], Random(0)) == {"parts": [draft, better]}
    assert "options" in next_settings("improve", [{"parts": [draft, better]}], Random(0)), "a merged script: a draft"
