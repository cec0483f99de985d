"""Ways to improve a result after the fact, without writing the chain of hashes anew.

Each changes a copy of an honest experiment of two runs; what verifying must say of it is given with it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

import podium

Tamper = Callable[[Path], None]
TASK = "spaceship-titanic"
MINIATURE = f"{TASK}@miniature"
KINDS: dict[str, tuple[Tamper, str]] = {}


def kind(said: str) -> Callable[[Tamper], Tamper]:
    """Adds a way of tampering, with words that tell that it was found."""

    def add(tamper: Tamper) -> Tamper:
        KINDS[tamper.__name__.replace("_", " ")] = (tamper, said)
        return tamper

    return add


def run(folder: Path, seed: int = 0) -> Path:
    return folder / TASK / str(seed)


def edit(path: Path, **changes: Any) -> None:
    """Changes a document: `a__b` is the key b inside a."""
    document = json.loads(path.read_text())
    for name, value in changes.items():
        *above, last = name.split("__")
        target = document
        for key in above:
            target = target[key]
        target[last] = value
    path.write_text(json.dumps(document))


def record(said: str, name: str, **changes: Any) -> None:
    """A way of tampering that changes the record of the first run."""

    def tamper(folder: Path) -> None:
        edit(run(folder) / "run.json", **changes)

    KINDS[name] = (tamper, said)


def plan(said: str, name: str, **changes: Any) -> None:
    """A way of tampering that changes the plan."""

    def tamper(folder: Path) -> None:
        edit(folder / "experiment.json", **changes)

    KINDS[name] = (tamper, said)


NO_GRADE = dict.fromkeys(("score", "medal", "above_median", "percentile", "submission_sha256", "higher_is_better"))
NO_TIMES = {"times__ended": None, "times__graded": None}

record("grading again gives 1.0", "score raised", score=1.5)
record("grading again gives gold", "medal lowered", medal="silver")
record("percentile is recorded as", "percentile changed", percentile=12.5)
record("above_median is recorded as", "median denied", above_median=False)
record("higher_is_better is recorded", "direction reversed", higher_is_better=False)
record("valid is recorded as False", "submission called invalid", valid=False, **NO_GRADE)
record("damaged: score", "score that is not a number", score=float("nan"))
record("no valid submission", "medal of a failed run without a grade", status="failed", valid=None, score=None)
record(
    "but the journal ends with a completed run", "finished run called stopped", status="stopped", valid=None, **NO_GRADE
)
record("1 unfinished run", "finished run called running", status="running", valid=None, ended_by=None, **NO_GRADE)
record("but ended_by is", "finished run called failed", status="failed")
record("usage differs", "fewer tokens and steps", usage__steps=1)
record("usage differs", "less time used", usage__working_s=0.001)
record("started after its first event", "start moved", times__started="2100-01-01T00:00:00.000+00:00")
record("before the experiment was created", "start moved back", times__started="2020-01-01T00:00:00.000+00:00")
record("the end differs", "end moved", times__ended="2026-01-01T00:00:00.000+00:00")
record("graded before the run had ended", "graded early", times__graded="2020-01-01T00:00:00.000+00:00")
record("ended_by differs: steps", "cause of the end changed", ended_by="steps")
record("agent differs: another", "agent renamed in the record", agent="another")
record("model differs: openai/gpt-5", "model added to the record", model="openai/gpt-5")
record("edition differs: fixed", "edition changed in the record", edition="fixed")
record("miniature differs: False", "miniature called real", miniature=False)
record("backend differs: docker", "backend changed", backend="docker")
record("sandbox differs", "network denied", sandbox__network="host")
record("versions differs", "versions changed", versions__podium="9.9.9")
record("submission_sha256 differs", "hash of the submission changed", submission_sha256="0" * 64)
record("journal_head differs", "head of the journal changed", journal_head="0" * 64)
record("changes differs", "change invented", changes=[{"name": "model", "before": None, "after": "x"}])
record("improvement is recorded as 50.0", "improvement invented", improvement=50.0, success=True)
record("outside its own interval", "interval invented", interval=[0.1, 0.2])
record("best_improvement differs: 80.0", "best improvement invented", best_improvement=80.0)
record("run.json names spaceship-titanic/1", "seed changed in the record", seed=1)
record("run.json names leaf-classification", "task changed in the record", task="leaf-classification")
record("damaged", "unknown field", bonus=1)

plan("model differs: openai/gpt-5", "another model planned", plan__model="openai/gpt-5")
plan("model_roles differs", "models of roles planned", plan__model_roles={"edit": "openai/gpt-5"})
plan("agent differs: aide", "another agent planned", plan__agent="aide")
plan("options differs", "other options planned", plan__options={"script": "elsewhere.json"})
plan("budget differs", "smaller budget planned", plan__budget__time_s=5.0)
plan("budget differs", "no budget planned", plan__budget__time_s=None)
plan("sandbox differs: none", "another sandbox planned", plan__sandbox="none")
plan("miniature differs: False", "miniature planned as real", plan__miniature=False)
plan("the sandbox allowed", "tighter limits planned", plan__limits__processes=8)
plan("gpus differs", "GPUs planned", plan__gpus=8)
plan("before the experiment was created", "created later", created="2100-01-01T00:00:00.000+00:00")
plan("1 of 3 planned runs missing: spaceship-titanic/2", "more seeds planned", seeds=3)
plan("1 unplanned run: spaceship-titanic/1", "fewer seeds planned", seeds=1)
plan("2 of 4 planned runs missing", "another task planned", tasks=[TASK, "leaf-classification"])
plan("lists a task twice", "a task planned twice", tasks=[TASK, TASK])


@kind("there is no curve.json")
def best_improvement_invented_without_a_curve(folder: Path) -> None:
    edit(run(folder) / "run.json", best_improvement=80.0)
    (run(folder) / "curve.json").unlink()


@kind("but run.json names spaceship-titanic/0")
def gold_of_another_task(folder: Path) -> None:
    """A run on an easy task, renamed."""
    (folder / TASK).rename(folder / "leaf-classification")
    edit(folder / "experiment.json", tasks=["leaf-classification"])


@kind("the journal names spaceship-titanic/0")
def gold_of_another_task_with_its_record(folder: Path) -> None:
    gold_of_another_task(folder)
    for seed in range(2):
        edit(folder / "leaf-classification" / str(seed) / "run.json", task="leaf-classification")


@kind("edition differs")
def another_edition_in_plan_and_record(folder: Path) -> None:
    edit(folder / "experiment.json", plan__edition="fixed")
    edit(run(folder) / "run.json", edition="fixed")


@kind("but run.json names spaceship-titanic/0")
def a_good_seed_twice(folder: Path) -> None:
    shutil.rmtree(run(folder, 1))
    shutil.copytree(run(folder), run(folder, 1))


@kind("the same first journal line as spaceship-titanic/0")
def a_good_seed_twice_with_its_record(folder: Path) -> None:
    a_good_seed_twice(folder)
    edit(run(folder, 1) / "run.json", seed=1)


@kind("the journal names spaceship-titanic/1")
def seeds_exchanged(folder: Path) -> None:
    run(folder).rename(folder / "aside")
    run(folder, 1).rename(run(folder))
    (folder / "aside").rename(run(folder, 1))


@kind("1 of 2 planned runs missing: spaceship-titanic/1")
def a_bad_seed_removed(folder: Path) -> None:
    shutil.rmtree(run(folder, 1))


@kind("unplanned run: spaceship-titanic/1-old")
def a_bad_seed_set_aside(folder: Path) -> None:
    run(folder, 1).rename(folder / TASK / "1-old")


@kind("run.json is missing")
def record_removed(folder: Path) -> None:
    (run(folder) / "run.json").unlink()


@kind("There is no journal")
def journal_removed(folder: Path) -> None:
    (run(folder) / "steps.jsonl").unlink()


@kind("appears twice")
def a_key_twice(folder: Path) -> None:
    path = run(folder) / "run.json"
    path.write_text(path.read_text().replace("{", '{"score": 0.5, ', 1))


def lines(folder: Path) -> tuple[Path, list[str]]:
    path = run(folder) / "steps.jsonl"
    return path, path.read_text().splitlines(keepends=True)


@kind("does not match its check")
def line_changed(folder: Path) -> None:
    path, found = lines(folder)
    path.write_text("".join(found).replace('"seed": 0', '"seed": 7', 1))


@kind("journal_head differs")
def end_cut_off(folder: Path) -> None:
    path, found = lines(folder)
    path.write_text("".join(found[:-1]))


@kind("is damaged")
def step_removed(folder: Path) -> None:
    path, found = lines(folder)
    path.write_text("".join(found[:1] + found[2:]))


@kind("is damaged")
def steps_exchanged(folder: Path) -> None:
    path, found = lines(folder)
    path.write_text("".join([found[0], found[2], found[1], *found[3:]]))


@kind("is incomplete")
def something_appended(folder: Path) -> None:
    path, found = lines(folder)
    path.write_text("".join(found) + '{"n": 99}\n')


@kind("the journal names spaceship-titanic/1")
def journal_of_another_run(folder: Path) -> None:
    shutil.copyfile(run(folder, 1) / "steps.jsonl", run(folder) / "steps.jsonl")


@kind("snapshots: ")
def segment_damaged(folder: Path) -> None:
    segment = max((run(folder) / "history" / "segments").iterdir(), key=lambda path: path.stat().st_size)
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(data)


@kind("snapshots: ")
def history_removed(folder: Path) -> None:
    shutil.rmtree(run(folder) / "history" / "segments")


@kind("submission.csv is not the submission of the last snapshot")
def copy_of_the_submission_replaced(folder: Path) -> None:
    path = run(folder) / "submission.csv"
    path.write_text(path.read_text().replace("True", "False", 1))


@kind("submission.csv is not the submission of the last snapshot")
def copy_of_the_submission_removed(folder: Path) -> None:
    (run(folder) / "submission.csv").unlink()


@kind("is a link")
def copy_of_the_submission_linked(folder: Path) -> None:
    path = run(folder) / "submission.csv"
    path.rename(folder / "elsewhere.csv")
    path.symlink_to(folder / "elsewhere.csv")


@kind("must be a folder inside the experiment")
def run_linked(folder: Path) -> None:
    run(folder).rename(folder / "elsewhere")
    run(folder).symlink_to(folder / "elsewhere")


def curve(folder: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    path = run(folder) / "curve.json"
    points = json.loads(path.read_text())
    change(points)
    path.write_text(json.dumps(points))


@kind("curve.json, line 2: score is recorded")
def curve_raised(folder: Path) -> None:
    curve(folder, lambda points: points[1]["grade"].update(score=0.99))


@kind("curve.json, line 2: medal is recorded")
def medal_earlier_on_the_curve(folder: Path) -> None:
    curve(folder, lambda points: points[1]["grade"].update(medal="gold"))


@kind("curve.json, line 2: rank is recorded")
def rank_on_the_curve(folder: Path) -> None:
    curve(folder, lambda points: points[1]["grade"].update(rank=1))


@kind("curve.json is damaged")
def medal_on_the_curve_without_a_submission(folder: Path) -> None:
    curve(folder, lambda points: points[0]["grade"].update(medal="gold"))


@kind("curve.json does not list")
def point_of_the_curve_removed(folder: Path) -> None:
    curve(folder, lambda points: points.pop(1))


@kind("curve.json does not list")
def curve_made_faster(folder: Path) -> None:
    curve(folder, lambda points: points[-1]["usage"].update(working_s=0.0))


@kind("the submission of the last snapshot")
def everything_of_the_grade_at_once(folder: Path) -> None:
    """Record and copy agree with each other, and with nothing else."""
    path = run(folder) / "submission.csv"
    path.write_text(path.read_text().replace("True", "False", 1))
    edit(run(folder) / "run.json", score=0.9, medal=None, percentile=50.0, above_median=False)


@kind("score is recorded as 0.0, but grading again gives 1.0")
def answers_shipped_with_the_experiment(folder: Path) -> None:
    """The publisher's own answers, which give what the record says."""
    honest = json.loads((folder / "experiment.json").read_text())["plan"]["data_dir"]
    data = shutil.copytree(honest, folder / "data", symlinks=True)
    answers = data / MINIATURE / "private" / "test.csv"
    table = pd.read_csv(answers)
    table["Transported"] = ~table["Transported"]
    table.to_csv(answers, index=False)
    grade = podium.grade(TASK, run(folder) / "submission.csv", data_dir=data).to_dict()
    edit(folder / "experiment.json", plan__data_dir=str(data))
    names = ("score", "medal", "above_median", "percentile")
    for seed in range(2):
        edit(run(folder, seed) / "run.json", **{name: grade[name] for name in names})
