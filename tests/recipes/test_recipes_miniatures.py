"""Recipes leave a valid submission on every Kaggle competition, as far as its miniature tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from few import few
from recipe_scripts import profile_of, run_recipe

from podium import api
from podium.recipes.kinds.fallback_recipes import FALLBACKS
from podium.recipes.recipe import Recipe, recipes_for
from podium.tables.profile import Profile

TIME_S = 20.0
DIFFERENT = {
    "spaceship-titanic": "quick boosting",
    "nomad2018-predict-transparent-conductors": "quick boosting",  # two numbers
    "detecting-insults-in-social-commentary": "quick words",  # the text is the id
    "plant-seedlings-classification": "quick images",  # folders give the class
    "dogs-vs-cats-redux-kernels-edition": "quick images",  # names give the class
    "herbarium-2020-fgvc7": "quick images",  # annotations in COCO's format
    "paddy-disease-classification": "quick images",  # in subfolders
    "the-icml-2013-whale-challenge-right-whale-redux": "quick audio",  # in an archive
    "freesound-audio-tagging-2019": "quick audio",  # a column lists the labels that apply
    "h-and-m-personalized-fashion-recommendations": "recent and popular items",
    "tgs-salt-identification-challenge": "quick masks",
    "3d-object-detection-for-autonomous-vehicles": None,
    "us-patent-phrase-to-phrase-matching": "quick words",  # a constant prediction would be invalid
}
"""Very different tasks, and the recipe that learns each first."""


@pytest.fixture(scope="module")
def miniatures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("miniatures")


def profiled(task_id: str, miniatures: Path) -> tuple[Path, Profile]:
    """The public folder of a miniature, and its profile."""
    api.prepare(task_id, data_dir=miniatures, miniature=True)
    public = miniatures / f"{task_id}@miniature" / "public"
    task = api.load(task_id)
    form = task.submission
    description = public / "description.md"
    brief = description.read_text("utf-8") if description.is_file() else task.brief
    profile = profile_of(public, task.metric, ids=form.ids, targets=form.targets, sample=form.sample, brief=brief)
    return public, profile


def learning(profile: Profile) -> list[Recipe]:
    return [recipe for recipe in recipes_for(profile) if recipe.name not in FALLBACKS]


def fallbacks(profile: Profile) -> list[Recipe]:
    return [recipe for recipe in recipes_for(profile) if recipe.name in FALLBACKS]


@pytest.mark.parametrize("task_id", few(DIFFERENT, every=2))
def test_modalities_are_recognised_and_fallbacks_are_valid(
    task_id: str, miniatures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, profile = profiled(task_id, miniatures)
    assert next((recipe.name for recipe in learning(profile)), None) == DIFFERENT[task_id]
    for recipe in fallbacks(profile):
        run_recipe(recipe, profile, public, tmp_path / recipe.name, monkeypatch)
        grade = api.grade(task_id, tmp_path / recipe.name / "submission.csv", data_dir=miniatures)
        assert grade.valid, (recipe.name, grade.error)


def test_a_profile_warns_of_what_was_not_understood(miniatures: Path) -> None:
    _, profile = profiled("AI4Code", miniatures)
    assert "No table contains the target" in " ".join(profile.warnings)


@pytest.mark.slow
@pytest.mark.parametrize("task_id", sorted({*api.tasks("mle-bench"), *api.tasks("mle-bench-dev")}))
@pytest.mark.filterwarnings("default")
def test_every_miniature_gets_a_valid_submission(
    task_id: str, miniatures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fallbacks, and the first script that learns, if there is one."""
    public, profile = profiled(task_id, miniatures)
    for recipe in [*fallbacks(profile), *learning(profile)[:1]]:
        run_recipe(recipe, profile, public, tmp_path / recipe.name, monkeypatch, time_s=TIME_S)
        grade = api.grade(task_id, tmp_path / recipe.name / "submission.csv", data_dir=miniatures)
        assert grade.valid, (recipe.name, grade.error)
