"""Profiles of public folders, and scripts of recipes run on them."""

from __future__ import annotations

import io
import os
import subprocess
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from podium.recipes.recipe import Recipe, Settings, recipes_for
from podium.recipes.script_writer import write_script
from podium.sandbox.interpreters.interpreter import find_interpreter
from podium.tables.profile import Profile
from podium.tables.profile_task import profile_task
from podium.task import Metric

INTERPRETER = os.environ.get("PODIUM_TEST_INTERPRETER", "")
"""What scripts are run with, as `--env` names it; if empty, they are run within the process of the tests."""


@dataclass(frozen=True)
class Outcome:
    """What a script wrote and printed."""

    submission: pd.DataFrame
    metric: float
    """Not a number where the script printed none."""
    output: str


def require(*modules: str) -> None:
    """Skips a test where scripts cannot import some modules."""
    if not INTERPRETER:
        for module in modules:
            pytest.importorskip(module)
    else:
        command = [find_interpreter(INTERPRETER).executable, "-c", f"import {', '.join(modules)}"]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip(f"{INTERPRETER} lacks one of {', '.join(modules)}")


def profile_of(
    public: Path,
    metric: Metric,
    *,
    ids: tuple[str, ...],
    targets: tuple[str, ...],
    sample: str = "sample_submission.csv",
    brief: str = "",
) -> Profile:
    """The profile of a public folder with a sample submission."""
    return profile_task(public, brief=brief, metric=metric, sample=sample, ids=ids, targets=targets)


def recipe_for(profile: Profile, name: str) -> Recipe:
    """The recipe of that name, which must suit."""
    return next(recipe for recipe in recipes_for(profile) if recipe.name == name)


def run_recipe(
    recipe: Recipe,
    profile: Profile,
    public: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings | None = None,
    *,
    time_s: float = 600,
) -> Outcome:
    """Runs a script of a recipe in a folder."""
    chosen = {**recipe.defaults(profile), **(settings or {})}
    script = write_script(recipe.title, recipe.body(profile, chosen), recipe=recipe.name, settings=chosen)
    return run_script(script, public, folder, monkeypatch, time_s=time_s)


def run_script(
    script: str, public: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, *, time_s: float = 600
) -> Outcome:
    """Runs a script in a folder; within this process warnings are errors for it too."""
    folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(folder)
    variables = {"PODIUM_DATA": os.fspath(public), "PODIUM_TIME_S": str(time_s), "OMP_NUM_THREADS": "2"}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    if INTERPRETER:
        output = output_of(script, folder)
    else:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(script, os.fspath(folder / "script.py"), "exec"), {"__name__": "__main__"})
        output = printed.getvalue()
    _, found, metric = output.rpartition("podium-metric: ")
    return Outcome(pd.read_csv(folder / "submission.csv"), float(metric if found else "nan"), output)


def output_of(script: str, folder: Path) -> str:
    """What a script prints when it is run with the interpreter."""
    (folder / "script.py").write_text(script, encoding="utf-8")
    python = find_interpreter(INTERPRETER).executable
    done = subprocess.run([python, "script.py"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
