"""Runs of a model that has memorised competitions do worse on their obfuscated twins; those of another do not."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from model_server import Behaviour, Request, serving, text_of

import podium
from podium.catalog.obfuscation.obfuscate import obfuscated_id
from podium.catalog.registry import resolve
from podium.integrity.contamination.familiarity import performance
from podium.report.comparison import compare
from podium.report.results import Results, read_results
from podium.report.statistics import permutation_p
from podium.runs.drive.driver import Driver
from podium.runs.drive.executors import make_executor
from podium.runs.experiment import open_experiment
from podium.runs.records import Plan
from podium.workspace.budget import Budget

pytestmark = pytest.mark.slow
TASKS = ("spaceship-titanic", "tabular-playground-series-may-2022", "tabular-playground-series-dec-2021")
SEEDS = 3
RECITED = """import json, os
import pandas as pd
answers = json.loads('''{answers}''')
sample = pd.read_csv(os.environ["PODIUM_DATA"] + "/sample_submission.csv")
sample.iloc[:, 1] = sample.iloc[:, 0].astype(str).map(answers)
sample.to_csv("submission.csv", index=False)
print("podium-metric: 0.9")
"""
LEARNT = """import glob, os
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
sample = pd.read_csv(os.environ["PODIUM_DATA"] + "/sample_submission.csv")
key, target = sample.columns[:2]
tables = [pd.read_csv(path) for path in glob.glob(os.environ["PODIUM_DATA"] + "/*.csv")]
train = next(table for table in tables if target in table and len(table.columns) > 3)
test = next(table for table in tables if target not in table and key in table)
names = list(test.select_dtypes("number").columns.drop(key, errors="ignore"))
model = RandomForestClassifier({trees}, max_features=2, random_state={seed})
model.fit(train[names].fillna(0), train[target])
test[target] = model.predict(test[names].fillna(0))
sample[[key]].merge(test[[key, target]]).to_csv("submission.csv", index=False)
print("podium-metric:", model.score(train[names].fillna(0), train[target]))
"""


def learning(request: Request, rng: random.Random) -> str:
    """A model that knows nothing but what it is told."""
    script = LEARNT.format(trees=rng.randint(1, 9), seed=rng.randint(0, 999))
    return f"A forest.\n\n```python\n{script}```\n"


def memorising(data_dir: Path) -> Behaviour:
    """A model that has seen the answers of the competitions, and knows them by their columns."""
    known: dict[str, str] = {}
    for task in TASKS:
        prepared = resolve(task, data_dir=data_dir, miniature=True)
        form = prepared.task.form
        answers = pd.read_csv(prepared.place.private / form.answers, dtype={form.ids[0]: str})
        word = pd.read_csv(prepared.place.public / "train.csv", nrows=1).columns[4]
        known[word] = answers.set_index(form.ids[0])[form.targets[0]].to_json()

    def answer(request: Request, rng: random.Random) -> str:
        recognised = [answers for word, answers in known.items() if word in text_of(request)]
        if not recognised:
            return learning(request, rng)
        return f"I remember.\n\n```python\n{RECITED.format(answers=recognised[0])}```\n"

    return answer


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("twins")
    for task in (*TASKS, *map(obfuscated_id, TASKS)):
        podium.prepare(task, data_dir=folder, miniature=True)
    return folder


def results(behaviour: Behaviour, folder: Path, data_dir: Path) -> tuple[Results, Results]:
    """What a model reaches on the tasks, and on their twins."""
    found = []
    with serving(behaviour) as server:
        model = {"model": "openai-api/podium/scripted", "model_base_url": server.url}
        for name, tasks in (("plain", TASKS), ("hidden", [obfuscated_id(task) for task in TASKS])):
            plan = Plan(agent="aide", data_dir=data_dir, miniature=True, budget=Budget(time_s=300.0, steps=2), **model)
            Driver(open_experiment(folder / name, plan, list(tasks), SEEDS)).run_all(make_executor(parallel=2))
            found.append(read_results(folder / name))
    return found[0], found[1]


def test_a_model_that_has_memorised_competitions_is_found_by_the_gap(tmp_path: Path, data_dir: Path) -> None:
    plain, hidden = results(memorising(data_dir), tmp_path, data_dir)
    medals = compare(plain, hidden).differences[0]
    assert medals.difference > 50
    assert medals.p < 0.01
    reached = performance(tmp_path / "plain", [resolve(task, data_dir=data_dir, miniature=True) for task in TASKS])
    assert min(reached.values()) >= 1


def test_a_model_without_memory_is_flagged_in_at_most_five_of_a_hundred_repetitions(
    tmp_path: Path, data_dir: Path
) -> None:
    rows = [row for side in results(learning, tmp_path, data_dir) for row in side.rows]
    scores = {task: [row.score for row in rows if row.task.endswith(task)] for task in TASKS}
    assert all(None not in each and len(each) == 2 * SEEDS for each in scores.values())
    assert sum(len(set(each)) for each in scores.values()) > len(TASKS)  # chance has something to play with
    rng, flagged = np.random.default_rng(0), 0
    for _ in range(200):
        drawn = [rng.permutation(np.array(each, dtype=float)) for each in scores.values()]
        flagged += permutation_p([(each[:SEEDS], each[SEEDS:]) for each in drawn]) < 0.01
    assert flagged <= 10
