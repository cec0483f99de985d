"""Recipes leave a valid submission on every Kaggle competition, as far as its miniature tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from recipe_scripts import profile_of, run_recipe

from podium import api
from podium.recipes.constant import FALLBACKS
from podium.recipes.profile import Profile
from podium.recipes.recipe import Recipe, recipes_for

TIME_S = 20.0
DIFFERENT = {
    "spaceship-titanic": "quick boosting",
    "nomad2018-predict-transparent-conductors": "quick boosting",  # two numbers
    "detecting-insults-in-social-commentary": "quick words",  # rows are known by their text
    "plant-seedlings-classification": "quick pictures",  # folders tell the class
    "dogs-vs-cats-redux-kernels-edition": "quick pictures",  # names tell the class
    "herbarium-2020-fgvc7": "quick pictures",  # annotations as COCO has them
    "paddy-disease-classification": "quick pictures",  # in subfolders
    "the-icml-2013-whale-challenge-right-whale-redux": "quick sounds",  # in an archive
    "freesound-audio-tagging-2019": "quick sounds",  # a column lists the labels that hold
    "h-and-m-personalized-fashion-recommendations": "usual items",
    "tgs-salt-identification-challenge": "quick masks",
    "3d-object-detection-for-autonomous-vehicles": None,
    "us-patent-phrase-to-phrase-matching": "quick words",  # the same prediction for all rows would be invalid
}
"""Tasks of the most different shapes, and by which recipe they are learnt first."""


@pytest.fixture(scope="module")
def miniatures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("miniatures")


def looked_at(task_id: str, miniatures: Path) -> tuple[Path, Profile]:
    """The public folder of a miniature, and what recipes see of it."""
    api.prepare(task_id, data_dir=miniatures, miniature=True)
    public = miniatures / task_id / "public"
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


@pytest.mark.parametrize("task_id", list(DIFFERENT))
def test_shapes_are_recognised_and_fall_back_to_something_valid(
    task_id: str, miniatures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, profile = looked_at(task_id, miniatures)
    assert next((recipe.name for recipe in learning(profile)), None) == DIFFERENT[task_id]
    for recipe in fallbacks(profile):
        run_recipe(recipe, profile, public, tmp_path / recipe.name, monkeypatch)
        grade = api.grade(task_id, tmp_path / recipe.name / "submission.csv", data_dir=miniatures)
        assert grade.valid, (recipe.name, grade.error)


def test_what_is_not_understood_is_said(miniatures: Path) -> None:
    _, profile = looked_at("AI4Code", miniatures)
    assert "No table holds the target" in " ".join(profile.doubts)


@pytest.mark.slow
@pytest.mark.parametrize("task_id", sorted({*api.tasks("mle-bench"), *api.tasks("mle-bench-dev")}))
@pytest.mark.filterwarnings("default")
def test_every_miniature_gets_a_valid_submission(
    task_id: str, miniatures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fallbacks, and the first script that learns, if there is one."""
    public, profile = looked_at(task_id, miniatures)
    for recipe in [*fallbacks(profile), *learning(profile)[:1]]:
        run_recipe(recipe, profile, public, tmp_path / recipe.name, monkeypatch, time_s=TIME_S)
        grade = api.grade(task_id, tmp_path / recipe.name / "submission.csv", data_dir=miniatures)
        assert grade.valid, (recipe.name, grade.error)
