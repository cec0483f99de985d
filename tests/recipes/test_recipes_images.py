"""Recipes for images."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from recipe_scripts import profile_of, recipe_for, run_recipe, run_script
from sklearn.datasets import load_digits

from podium.metrics import accuracy, concordance, rmse
from podium.recipes.kinds import file_features
from podium.recipes.kit.inputs.image_features import (
    grid_means,
    local_binary_patterns,
    orientation_histograms,
    patch_features,
    picture_features,
    read_image,
    spectrum_features,
)
from podium.recipes.script_writer import write_script

TRAIN, TEST = 240, 120


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pd.DataFrame]:
    """Handwritten digits: those of train in a folder, those of test in an archive."""
    public = tmp_path_factory.mktemp("digits")
    digits, labels = load_digits(return_X_y=True)
    rows = pd.DataFrame({"image": [f"d{number}" for number in range(TRAIN + TEST)], "digit": labels[: TRAIN + TEST]})
    (public / "train").mkdir()
    with zipfile.ZipFile(public / "test.zip", "w") as archive:
        for number, name in enumerate(rows["image"]):
            image = Image.fromarray((digits[number].reshape(8, 8) * 15).astype(np.uint8)).resize((16, 16))
            path = public / "train" / f"{name}.png"
            image.save(path)
            if number >= TRAIN:
                archive.write(path, f"test/{name}.png")
                path.unlink()
    rows[:TRAIN].to_csv(public / "train.csv", index=False)
    rows[TRAIN:].assign(digit=0).to_csv(public / "sample_submission.csv", index=False)
    return public, rows[TRAIN:].reset_index(drop=True)


def test_digits_are_classified(
    digits: tuple[Path, pd.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, answers = digits
    profile = profile_of(public, accuracy, ids=("image",), targets=("digit",))
    assert profile.modality == "images"
    outcome = run_recipe(recipe_for(profile, "quick images"), profile, public, tmp_path, monkeypatch)
    assert (outcome.submission["digit"] == answers["digit"]).mean() > 0.85
    assert outcome.metric > 0.8


def test_several_models_are_blended(
    digits: tuple[Path, pd.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, answers = digits
    profile = profile_of(public, accuracy, ids=("image",), targets=("digit",))
    settings = {"patches": [5], "count": 40, "folds": 3, "models": ["linear", "kernel"], "mirror": True}
    outcome = run_recipe(recipe_for(profile, "images"), profile, public, tmp_path, monkeypatch, settings)
    assert (outcome.submission["digit"] == answers["digit"]).mean() > 0.8
    assert "weights" in outcome.output
    assert np.load(tmp_path / "predictions.npz")["oof"].shape == (TRAIN, 10)


def test_numbers_are_estimated(
    digits: tuple[Path, pd.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, answers = digits
    data = shutil.copytree(public, tmp_path / "data")
    for name in ("train", "sample_submission"):
        table = pd.read_csv(public / f"{name}.csv")
        table.assign(size=table.pop("digit") * 1.5 + 0.25).to_csv(data / f"{name}.csv", index=False)
    profile = profile_of(data, rmse, ids=("image",), targets=("size",))
    settings = {"models": ["linear", "kernel"]}
    recipe = recipe_for(profile, "quick images")
    outcome = run_recipe(recipe, profile, data, tmp_path / "work", monkeypatch, settings)
    truth = answers["digit"] * 1.5 + 0.25
    assert np.sqrt(((outcome.submission["size"] - truth) ** 2).mean()) < 0.8 * truth.std()


def write_shades(public: Path, light: np.ndarray, y: np.ndarray, *, train: int) -> None:
    """Grey images of some brightness with noise, and what is to be predicted of them; the first ones are of train."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"image": [f"i{number}" for number in range(len(y))], "y": y})
    for folder in ("train", "test"):
        (public / folder).mkdir(parents=True)
    for number, name in enumerate(rows["image"]):
        pixels = light[number] + rng.integers(-40, 40, (16, 16))
        Image.fromarray(pixels.astype(np.uint8)).save(public / ("train" if number < train else "test") / f"{name}.png")
    rows[:train].to_csv(public / "train.csv", index=False)
    rows[train:].assign(y=y[0]).to_csv(public / "sample_submission.csv", index=False)


def test_images_that_are_sorted_by_class_are_mixed_where_there_is_no_time_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, kinds = tmp_path / "data", np.repeat(["light", "dark", "light", "dark"], [300, 100, 20, 20])
    write_shades(public, np.where(kinds == "light", 150, 50), kinds, train=400)
    profile = profile_of(public, accuracy, ids=("image",), targets=("y",))
    recipe = recipe_for(profile, "quick images")
    body = recipe.body(profile, recipe.defaults(profile)).replace("until=0.3", "until=0.0")
    script = write_script(recipe.title, body, recipe=recipe.name)
    outcome = run_script(script, public, tmp_path / "work", monkeypatch)
    assert "features (296," in outcome.output, "256 images of train are read, and all of test"
    assert (outcome.submission["y"] == kinds[400:]).mean() > 0.9


def test_images_of_some_rows_beside_a_table_are_features_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, public = np.random.default_rng(0), tmp_path / "data"
    (public / "photos").mkdir(parents=True)
    light, has_photo = rng.integers(60, 190, 400), rng.random(400) < 0.6
    rows = pd.DataFrame(
        {"id": np.arange(400), "photo": [f"photos/p{997 * number % 10007}.png" for number in range(400)]}
    )
    has_photo[0] = False
    rows = rows.join(pd.DataFrame(rng.normal(size=(400, 10))).add_prefix("n"))
    y = rows["n0"] + 5 * np.where(has_photo, light, 0) / 125
    for path, shade in zip(rows["photo"][has_photo], light[has_photo], strict=True):
        Image.fromarray((shade + rng.integers(-40, 40, (16, 16))).astype(np.uint8)).save(public / path)
    rows.loc[~has_photo, "photo"] = None
    rows[:300].assign(y=y).to_csv(public / "train.csv", index=False)
    rows[300:].to_csv(public / "test.csv", index=False)
    rows[300:].assign(y=0.0)[["id", "y"]].to_csv(public / "sample_submission.csv", index=False)
    profile = profile_of(public, rmse, ids=("id",), targets=("y",))
    outcome = run_recipe(recipe_for(profile, "quick boosting"), profile, public, tmp_path / "work", monkeypatch)
    assert rmse(y[300:].to_numpy(), outcome.submission["y"].to_numpy()) < 0.5
    assert outcome.metric < 0.5


def test_images_beside_a_table_are_left_out_where_there_is_no_time_to_read_them_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("podium.tables.packed_files.DATA", tmp_path)
    rng, paths = np.random.default_rng(0), [f"{number % 40}.png" for number in range(300)]
    for path in paths[:40]:
        Image.fromarray(rng.integers(0, 255, (16, 16)).astype(np.uint8)).save(tmp_path / path)
    assert picture_features(paths, paths, until=10.0).shape[1] > 10
    assert picture_features(paths, paths, until=0.0).shape == (600, 0)


def test_risks_that_are_turned_round_have_no_weight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    light = rng.uniform(50, 200, 160)
    times = np.exp(rng.normal(-light / 30, 0.1))
    times[::8] *= -0.5  # until then nothing had happened
    write_shades(tmp_path / "data", light, times, train=120)
    profile = profile_of(tmp_path / "data", concordance, ids=("image",), targets=("y",))
    assert profile.is_survival
    turned_round = "(lambda model: lambda values: -model(values))(fit_linear(features, y, seed))"
    monkeypatch.setitem(file_features.MODELS, "turned round", turned_round)
    recipe, settings = recipe_for(profile, "quick images"), {"models": ["linear", "turned round"]}
    outcome = run_recipe(recipe, profile, tmp_path / "data", tmp_path / "work", monkeypatch, settings)
    assert concordance(times[120:], outcome.submission["y"].to_numpy()) > 0.8


def test_features_depend_on_the_direction_of_stripes() -> None:
    down, across = np.mgrid[0:24, 0:24]
    lying, standing = np.sin(down)[None].astype(np.float32), np.sin(across)[None].astype(np.float32)
    strongest = [orientation_histograms(one, 1, bins=4).argmax() for one in (lying, standing)]
    assert strongest == [2, 0]
    apart = np.abs(spectrum_features(lying) - spectrum_features(standing)).max()
    moved = np.abs(spectrum_features(lying) - spectrum_features(np.roll(lying, 3, axis=1))).max()
    assert moved < 0.5 * apart


def test_binary_patterns_do_not_depend_on_brightness() -> None:
    images = np.random.default_rng(0).random((2, 12, 12)).astype(np.float32)
    np.testing.assert_array_equal(local_binary_patterns(images, 1), local_binary_patterns(0.5 * images + 0.2, 1))


def test_a_grid_has_the_means_of_its_cells() -> None:
    images = np.arange(2 * 5 * 6, dtype=np.float32).reshape(2, 5, 6)
    found = grid_means(images, 2)
    assert found.shape == (2, 4)
    assert found[0, 0] == pytest.approx(images[0, :3, :3].mean())
    assert found[1, 3] == pytest.approx(images[1, 3:, 3:].mean())


def test_patches_and_their_negatives_may_count_as_the_same() -> None:
    images = np.random.default_rng(0).normal(size=(6, 12, 12)).astype(np.float32)
    both = np.concatenate([images, -images])
    found = patch_features(both, size=4, count=10, seed=0, ignore_sign=True)
    assert found.shape == (12, 10)
    np.testing.assert_allclose(found[:6], found[6:], atol=0.15)


def test_unreadable_images_are_black(tmp_path: Path) -> None:
    (tmp_path / "broken.png").write_bytes(b"no image")
    assert read_image(str(tmp_path / "broken.png"), 8, "RGB").sum() == 0
