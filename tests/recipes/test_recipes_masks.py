"""Recipes for masks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from recipe_scripts import profile_of, recipe_for, run_recipe, run_script

from podium.metrics import rle_dice, rle_mean_iou
from podium.recipes.kinds.mask_recipes import first_pixel, mask_files, run_order, score_name
from podium.recipes.kit.inputs.mask_pixels import (
    best_cleaning,
    clean_mask,
    decode_runs,
    encode_runs,
    guess_run_order,
    mask_dice,
    mask_iou,
    mask_precision,
    pooled_dice,
    resize_map,
    shrink_image,
)
from podium.recipes.script_writer import write_script

BRIEF = "Pixels are numbered from 1, from top to bottom and then from left to right."
HEIGHT, WIDTH, TRAIN, TEST = 28, 36, 24, 12


@pytest.fixture(scope="module")
def discs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[np.ndarray]]:
    """Images with a disc that is a little brighter than the noise around it; one in six has none."""
    public, rng = tmp_path_factory.mktemp("discs"), np.random.default_rng(0)
    down, across = np.mgrid[0:HEIGHT, 0:WIDTH]
    masks, names = [], [f"p{number}" for number in range(TRAIN + TEST)]
    for folder in ("train", "train_masks", "test"):
        (public / folder).mkdir()
    for number, name in enumerate(names):
        centre, size = rng.uniform([6, 6], [HEIGHT - 6, WIDTH - 6]), 0 if number % 6 == 0 else rng.uniform(5, 9)
        mask = np.hypot(down - centre[0], across - centre[1]) < size
        image = 100 + 50 * mask + 25 * rng.normal(size=mask.shape)
        folder = "train" if number < TRAIN else "test"
        Image.fromarray(np.clip(image, 0, 255).astype(np.uint8)).save(public / folder / f"{name}.png")
        if number < TRAIN:
            Image.fromarray(mask.astype(np.uint8) * 255).save(public / "train_masks" / f"{name}.png")
        masks.append(mask)
    rows = pd.DataFrame({"picture": names, "runs": [encode_runs(mask, "columns") for mask in masks]})
    rows[:TRAIN].to_csv(public / "train.csv", index=False)
    rows[TRAIN:].assign(runs="").to_csv(public / "sample_submission.csv", index=False)
    return public, masks[TRAIN:]


def test_discs_are_segmented_alone_and_blended(
    discs: tuple[Path, list[np.ndarray]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, answers = discs
    profile = profile_of(public, rle_dice, ids=("picture",), targets=("runs",), brief=BRIEF)
    assert profile.modality == "masks"
    recipe = recipe_for(profile, "quick masks")
    outcome = run_recipe(recipe, profile, public, tmp_path / "000", monkeypatch)
    assert outcome.metric > 0.8
    assert mask_dice(answers, submitted(outcome.submission)) > 0.8
    other = recipe_for(profile, "masks")
    run_recipe(other, profile, public, tmp_path / "001", monkeypatch, {"patches": 4, "folds": 2})
    assert other.merge is not None
    blend = write_script("Blend.", other.merge(profile, ["../000", "../001"]), recipe="blend")
    outcome = run_script(blend, public, tmp_path / "002", monkeypatch)
    assert mask_dice(answers, submitted(outcome.submission)) > 0.8


def submitted(submission: pd.DataFrame) -> list[np.ndarray]:
    return [decode_runs(text, (HEIGHT, WIDTH), "columns") for text in submission["runs"]]


def test_masks_stored_as_images_are_found(discs: tuple[Path, list[np.ndarray]]) -> None:
    profile = profile_of(discs[0], rle_dice, ids=("picture",), targets=("runs",), brief=BRIEF)
    assert mask_files(profile) == "train_masks/{}.png"
    assert score_name(profile) == "mask_dice"
    pooled = profile_of(discs[0], rle_dice.using(pooled=True), ids=("picture",), targets=("runs",))
    assert score_name(pooled) == "pooled_dice"
    assert score_name(profile_of(discs[0], rle_mean_iou, ids=("picture",), targets=("runs",))) == "mask_iou"


@pytest.mark.parametrize("order", ["rows", "columns"])
def test_runs_survive_encoding_and_decoding(order: str) -> None:
    mask = np.random.default_rng(0).random((5, 7)) > 0.5
    np.testing.assert_array_equal(decode_runs(encode_runs(mask, order), (5, 7), order), mask)
    assert encode_runs(np.zeros((3, 3), bool), order) == ""
    assert not decode_runs(float("nan"), (3, 3), order).any()


def test_pixels_are_counted_along_rows_or_columns() -> None:
    mask = np.zeros((2, 3), dtype=bool)
    mask[0, 1:] = True
    assert encode_runs(mask, "rows") == "2 2"
    assert encode_runs(mask, "columns") == "3 1 5 1"
    assert encode_runs(mask, "rows", first=0) == "1 2"


@pytest.mark.parametrize(
    ("brief", "order"),
    [
        ("numbered left to right and then top to bottom", "rows"),
        ("The pixels are numbered from top\nto bottom, then left to right: 1 is pixel (1,1), 2 is (2,1)", "columns"),
        ("column-major order", "columns"),
        ("run lengths", None),
    ],
)
def test_the_order_of_pixels_is_read_from_the_brief(brief: str, order: str | None) -> None:
    assert run_order(brief) == order
    assert first_pixel(brief) == 1
    assert first_pixel("Pixels are zero-indexed.") == 0


@pytest.mark.parametrize("order", ["rows", "columns"])
def test_the_order_of_pixels_is_guessed_from_masks(order: str) -> None:
    mask = np.zeros((20, 30), dtype=bool)
    mask[5:15, 8:20] = True
    runs = [encode_runs(mask, order)]
    assert guess_run_order(runs, [mask.shape]) == order
    square = np.zeros((20, 20), dtype=bool)
    square[2:5, 8:20] = True
    assert guess_run_order([encode_runs(square, order)], [square.shape], [square]) == order


def test_cleaning_removes_small_pieces_and_finds_the_threshold() -> None:
    mask = np.zeros((30, 30), dtype=bool)
    mask[8:20, 8:20] = True
    probabilities = np.where(mask, 0.45, 0.1)
    probabilities[2, 2] = 0.9
    cleaning, score = best_cleaning([probabilities], [mask], mask_dice)
    assert score > 0.95
    assert mask_dice([mask], [clean_mask(probabilities, *cleaning)]) == score
    assert not clean_mask(np.zeros((5, 5)), 0.0, 0.5, 0.0).any()


def test_scores_of_masks() -> None:
    truth = [np.array([[True, True, False, False]]), np.zeros((1, 4), bool)]
    prediction = [np.array([[True, False, False, False]]), np.zeros((1, 4), bool)]
    assert mask_dice(truth, prediction) == pytest.approx((2 / 3 + 1) / 2)
    assert pooled_dice(truth, prediction) == pytest.approx(2 / 3)
    assert mask_iou(truth, prediction) == pytest.approx(0.75)
    assert mask_precision(truth, prediction) == pytest.approx(0.5)


def test_large_images_are_shrunk_and_maps_resized_back() -> None:
    image = np.zeros((100, 200, 3), dtype=np.uint8)
    small = shrink_image(image, 50)
    assert small.shape == (25, 50, 3)
    assert resize_map(np.zeros((25, 50)), (100, 200)).shape == (100, 200)
