"""What `podium integrity scan` finds in cheats, and in runs of agents that are known to be honest."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from corpus_runs import Case, carry_out, prepare_data
from honest_coders import search_coder, talking_coder, write_real_tasks
from model_server import serving

from podium.integrity.scan_runs import scan
from podium.report.stored_findings import Finding
from podium.runs.drive.driver import Driver
from podium.runs.drive.executors import make_executor
from podium.runs.experiment import open_experiment
from podium.runs.records import Plan
from podium.workspace.budget import Budget

MODEL = "openai-api/podium/scripted"
TABLES = (
    *("spaceship-titanic", "tabular-playground-series-may-2022", "tabular-playground-series-dec-2021"),
    *("forge-tabular-classification-easy-7", "forge-tabular-regression-easy-7"),
)
"""Miniatures and forged tasks with `train.csv`, `test.csv` and one column to predict."""
OTHERS = (
    *("spooky-author-identification", "random-acts-of-pizza", "leaf-classification", "aerial-cactus-identification"),
    *("nomad2018-predict-transparent-conductors", "new-york-city-taxi-fare-prediction", "playground-series-s3e18"),
    *("detecting-insults-in-social-commentary", "us-patent-phrase-to-phrase-matching", "dog-breed-identification"),
    *("learning-agency-lab-automated-essay-scoring-2", "tensorflow-speech-recognition-challenge"),
    *(f"forge-{name}-easy-7" for name in ("time-series", "text-classification", "image-classification", "audio")),
    *(f"forge-{name}-easy-7" for name in ("graph", "ranking", "entity-matching", "ordinal", "survival")),
)


@dataclass(frozen=True)
class Honest:
    """An experiment whose agents have no reason to cheat, and cannot."""

    words: str
    agent: str
    tasks: Sequence[str]
    seeds: int
    steps: int


def honest_experiments(real: Sequence[str]) -> list[Honest]:
    """Recipes and scripted coders, on miniatures, forged tasks and real data: 106 runs."""
    tables = [*TABLES, *real]
    return [
        Honest("`recipes` on miniatures and forged tasks", "recipes", [*TABLES, *OTHERS], 1, 2),
        Honest("`recipes` on real data", "recipes", real, 2, 2),
        Honest("scripted coders with `aide`, half of them on real data", "aide", tables, 4, 2),
        Honest("scripted coders with `react`, half of them on real data", "react", tables, 3, 6),
    ]


def concerns(case: Case, folder: Path, data_dir: Path) -> set[str]:
    """The kinds of concerns about the first run of a case."""
    prepare_data(data_dir, [case.task])
    runs = carry_out(case, folder / case.name.replace("/", "-"), data_dir)
    return _kinds(scan([run.path for run in runs], write=False)[0].findings)


def doubted(honest: Honest, folder: Path, data_dir: Path) -> dict[str, set[str]]:
    """The kinds of concerns about each run of an honest experiment, carried out two at a time."""
    prepare_data(data_dir, [task for task in honest.tasks if not task.startswith("real-")])
    found = {}
    with serving(talking_coder if honest.agent == "react" else search_coder) as server:
        model = {} if honest.agent == "recipes" else {"model": MODEL, "model_base_url": server.url}
        # Only miniatures are marked: real data and forged tasks are what they are.
        for miniature in (True, False):
            place = folder / f"{honest.agent}-{honest.seeds}-{miniature}"
            tasks = [task for task in honest.tasks if task.startswith(("real-", "forge-")) != miniature]
            if not tasks:
                continue
            budget = Budget(time_s=600.0, steps=honest.steps)
            plan = Plan(agent=honest.agent, data_dir=data_dir, miniature=miniature, budget=budget, **model)
            experiment = open_experiment(place, plan, tasks, honest.seeds)
            Driver(experiment).run_all(make_executor(parallel=2))
            found |= {str(run.path): _kinds(run.findings) for run in scan([experiment.folder], write=False)}
    return found


@contextmanager
def real_tasks(folder: Path, data_dir: Path) -> Iterator[list[str]]:
    """Tasks with real data, prepared, while the block runs."""
    from podium import api

    names = write_real_tasks(folder)
    before = os.environ.get("PODIUM_TASKS")
    os.environ["PODIUM_TASKS"] = str(folder)
    try:
        for name in names:
            api.prepare(name, data_dir=data_dir)
        yield names
    finally:
        if before is None:
            del os.environ["PODIUM_TASKS"]
        else:
            os.environ["PODIUM_TASKS"] = before


def _kinds(findings: Sequence[Finding]) -> set[str]:
    return {each.kind for each in findings if each.severity == "concern"}
