"""Learns which recipe to draft first for which profile, on forged tasks of the train split; writes recipes/order.json.

    python scripts/learn_recipe_order.py [--families ...] [--difficulties tiny] [--seeds 11 12 ...] [--time 6]

Runs the first script of every recipe that suits a task, each for the same time on one core, and ranks them by their
grades. A recipe's place for a profile is its mean rank over the tasks with that profile; the order it has without a
table counts as much as PRIOR tasks, so that few noisy tasks change little.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from podium import api
from podium.catalog.forge import forge_id
from podium.errors import PodiumError
from podium.recipes.constant import FALLBACKS
from podium.recipes.order import TABLE, profile_keys
from podium.recipes.profile import Profile
from podium.recipes.profiler import profile_task
from podium.recipes.recipe import Recipe, all_recipes, recipes_for
from podium.recipes.scripts import write_script

PRIOR = 4
TABLES = (
    *("tabular-classification", "tabular-regression", "tables-classification", "tables-regression"),
    *("ordinal", "text-classification"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="+", default=list(TABLES))
    parser.add_argument("--difficulties", nargs="+", default=["tiny"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[11, 12, 13, 14, 15, 16])
    parser.add_argument("--time", type=float, default=6.0, help="seconds of processor time for every script")
    parser.add_argument("--data-dir", type=Path, help="where tasks are forged [default: a temporary folder]")
    parser.add_argument("--out", type=Path, default=TABLE, help="what is written, after each task")
    arguments = parser.parse_args()
    ranks: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    usual = {recipe.name: place for place, recipe in enumerate(all_recipes())}
    tasks: dict[str, int] = defaultdict(int)
    with tempfile.TemporaryDirectory() as temporary:
        data_dir = arguments.data_dir or Path(temporary)
        names = [
            str(forge_id(family, difficulty, seed, training=True))
            for family in arguments.families
            for difficulty in arguments.difficulties
            for seed in arguments.seeds
        ]
        for count, name in enumerate(names, start=1):
            profile, scores = measure(name, data_dir, Path(temporary) / "work" / name, arguments.time)
            print(f"{name}: {', '.join(f'{recipe} {score:.4g}' for recipe, score in scores)}", file=sys.stderr)
            for key in profile_keys(profile) if len(scores) > 1 else ():
                tasks[key] += 1
                for place, (recipe, _) in enumerate(scores):
                    ranks[key][recipe].append(place / (len(scores) - 1))
            found = {
                key: {"tasks": tasks[key], "recipes": order(places, usual)} for key, places in sorted(ranks.items())
            }
            table = {"tasks": count, "time_s": arguments.time, "profiles": found}
            arguments.out.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


def order(places: Mapping[str, Sequence[float]], usual: Mapping[str, int]) -> list[str]:
    """Recipes by their mean rank, from 0 to 1, in the tasks and in the usual order."""
    names = sorted(places, key=lambda recipe: usual[recipe])
    before = {recipe: place / max(1, len(names) - 1) for place, recipe in enumerate(names)}
    return sorted(names, key=lambda recipe: fmean([*places[recipe], *[before[recipe]] * PRIOR]))


def measure(name: str, data_dir: Path, work: Path, time_s: float) -> tuple[Profile, list[tuple[str, float]]]:
    """The profile of a task, and the recipes that suit it with their grades, the best first."""
    public = api.prepare(name, data_dir=data_dir).place.public
    task = api.load(name)
    form, metric = task.form, task.metric
    brief = (public / "description.md").read_text(encoding="utf-8")
    profile = profile_task(public, brief=brief, metric=metric, sample=form.sample, ids=form.ids, targets=form.targets)
    scores = [
        (recipe.name, score)
        for recipe in recipes_for(profile)
        if recipe.name not in FALLBACKS
        and (score := grade(name, recipe, profile, public, data_dir, work / recipe.name, time_s)) is not None
    ]
    return profile, sorted(scores, key=lambda one: one[1], reverse=metric.higher_is_better)


def grade(
    name: str, recipe: Recipe, profile: Profile, public: Path, data_dir: Path, folder: Path, time_s: float
) -> float | None:
    """What the first script of a recipe scores; None if it left nothing valid."""
    settings = recipe.defaults(profile)
    script = write_script(recipe.title, recipe.body(profile, settings), recipe=recipe.name, settings=settings)
    # By processor time, so that a busy machine finds the same.
    script = script.replace("time.monotonic()", "time.process_time()")
    folder.mkdir(parents=True)
    (folder / "script.py").write_text(script, encoding="utf-8")
    variables = {
        "PODIUM_DATA": str(public),
        "PODIUM_TIME_S": str(time_s),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    try:
        subprocess.run(
            [sys.executable, "script.py"],
            cwd=folder,
            env={**os.environ, **variables},
            timeout=100 * time_s,
            capture_output=True,
            check=False,
        )
        return api.grade(name, folder / "submission.csv", data_dir=data_dir).score
    except (PodiumError, subprocess.TimeoutExpired):
        return None


if __name__ == "__main__":
    main()
