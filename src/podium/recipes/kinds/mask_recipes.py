"""Recipes for masks: every pixel is classified by its surroundings, and the resulting mask is cleaned."""

from __future__ import annotations

import re
from collections.abc import Sequence

from podium.recipes.recipe import Improvement, Recipe, Settings
from podium.recipes.script_writer import assign
from podium.tables.data_files import IMAGES, MASK_WORDS
from podium.tables.profile import Profile

_SCORES = {"rle_mean_iou": "mask_iou", "rle_iou_precision": "mask_precision"}


def suits(profile: Profile) -> bool:
    """Return whether train rows have images and masks, and a row to predict has one mask."""
    if profile.modality != "masks" or len(profile.targets) != 1 or not profile.file_patterns or not profile.train:
        return False
    has_images = any(files.suffix in IMAGES for files in profile.files)
    return has_images and (profile.goal == "text" or mask_files(profile) is not None)


def mask_files(profile: Profile) -> str | None:
    """The pattern that leads from a train row to its mask, where masks are kept as images."""
    for files in profile.files:
        for example in files.examples:
            folder, _, name = f"{files.folder}/{example}".rpartition("/")
            if files.suffix in IMAGES and MASK_WORDS.search(folder):
                return f"{folder}/{{}}{name[-len(files.suffix) :]}"
    return None


def run_order(brief: str) -> str | None:
    """Return the pixel order of run lengths that the brief states, or None."""
    text = " ".join(brief.lower().split())
    down, across = text.find("top to bottom"), text.find("left to right")
    if down >= 0 and across >= 0:
        return "columns" if down < across else "rows"
    if "column-major" in text or "column major" in text:
        return "columns"
    return "rows" if "row-major" in text or "row major" in text else None


def first_pixel(brief: str) -> int:
    """The number of the first pixel."""
    text = brief.lower()
    return 0 if re.search(r"(zero|0)-(indexed|based)|(numbered|counted) from 0", text) else 1


def score_name(profile: Profile) -> str:
    """The score of the kit for the metric."""
    if profile.metric == "rle_dice" and profile.metric_options.get("pooled"):
        return "pooled_dice"
    return _SCORES.get(profile.metric, "mask_dice")


def reading_source(profile: Profile) -> str:
    """The start of a body: images and masks."""
    assert profile.train is not None and profile.file_patterns is not None
    patterns, masks, has_runs = profile.file_patterns, mask_files(profile), profile.goal == "text"
    given = assign(TRAIN=profile.train.file, SAMPLE=profile.sample, IDS=profile.ids, TARGET=profile.targets[0])
    given += assign(
        COLUMN=patterns.column, TRAIN_FILES=patterns.train, TEST_FILES=patterns.test, FIRST=first_pixel(profile.brief)
    )
    given += assign(LABEL=profile.labels[0]) if has_runs else assign(MASK_FILES=masks)
    order = run_order(profile.brief)
    source = f"""{given}
train, sample = read_table(TRAIN).drop_duplicates(COLUMN), read_sample(SAMPLE)
names = list(ids_as_text(train[COLUMN]))
originals = [read_full_image(path) for path in file_paths(TRAIN_FILES, names)]
shapes = [image.shape[:2] for image in originals]
"""
    if has_runs:
        found = "guess_run_order(train[LABEL][:50], shapes[:50])" if order is None else repr(order)
        source += f"order = {found}\n"
        source += "truth = [decode_runs(runs, shape, order, FIRST) for runs, shape in zip(train[LABEL], shapes)]\n"
    else:
        source += f"order = {order or 'columns'!r}\ntruth = [read_mask(MASK_FILES.format(name)) for name in names]\n"
    return source


def body(profile: Profile, settings: Settings) -> str:
    """Learns from some pixels of every image and predicts all pixels of the validation and test images."""
    return f"""{reading_source(profile)}
images = [shrink_image(image, {settings["side"]}) for image in originals]
masks = [shrink_image(mask.astype(np.uint8) * 255, {settings["side"]}) > 127 for mask in truth]
tests = [read_full_image(path) for path in file_paths(TEST_FILES, sample[IDS[0]])]
sizes = [image.shape[:2] for image in tests]
codes = pixel_patch_codes(images, {settings["patches"]})
features, labels = sample_pixels(images, masks, codes, each={settings["pixels"]})
print("pixels sampled after", round(time_used(), 2), "of the time", flush=True)

fold = image_folds(len(images), {settings["folds"]})
maps, models = {{}}, []
for number in range({settings["folds"]}):
    if number and time_used() > 0.5:
        break
    learn, check = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
    chosen, known = np.concatenate([features[i] for i in learn]), np.concatenate([labels[i] for i in learn])
    fitted = [fit_pixel_model(chosen, known, kind) for kind in {settings["models"]}]
    maps.update(zip(check, predict_pixels([images[i] for i in check], codes, fitted)))
    models += fitted
predicted = predict_pixels([shrink_image(image, {settings["side"]}) for image in tests], codes, models)
oof = [maps.get(i, np.zeros(mask.shape, np.float32)) for i, mask in enumerate(masks)]
rows = sorted(maps)
save_probability_maps("probabilities.npz", oof, predicted)
{finishing_source(profile)}"""


def finishing_source(profile: Profile) -> str:
    """The end of a body, after `oof` of train images (valid for `rows`) and `predicted` of test images."""
    return f"""
resized = [resize_map(oof[i], shapes[i]) for i in rows]
cleaning, score = best_cleaning(resized, [truth[i] for i in rows], {score_name(profile)})
print("smoothing, threshold, smallest share:", cleaning)
predicted_masks = [clean_mask(resize_map(one, size), *cleaning) for one, size in zip(predicted, sizes)]
write_submission(sample, IDS, None, {{TARGET: [encode_runs(mask, order, FIRST) for mask in predicted_masks]}})
print(f"podium-metric: {{score:.6f}}")
"""


def merge_body(profile: Profile, folders: Sequence[str]) -> str:
    """The mean of the probability maps of scripts, cleaned again."""
    return f"""FOLDERS = {list(folders)!r}
{reading_source(profile)}
sizes = [read_full_image(path).shape[:2] for path in file_paths(TEST_FILES, sample[IDS[0]])]
oof, predicted = mean_probability_maps(FOLDERS, "probabilities.npz")
rows = [i for i, one in enumerate(oof) if one.max() > 0]
save_probability_maps("probabilities.npz", oof, predicted)
{finishing_source(profile)}"""


def _improvements(profile: Profile, settings: Settings) -> Sequence[Improvement]:
    return [
        Improvement("average boosting and a linear model", {"models": ["linear", "boosting"]}),
        Improvement("learn from more pixels", {"pixels": 3 * settings["pixels"]}),
        Improvement("use more patches", {"patches": 2 * max(15, settings["patches"])}),
        Improvement("use larger images", {"side": 2 * settings["side"]}),
    ]


RECIPES = (
    Recipe(
        name="quick masks",
        title="Classifies pixels by brightness, edges and texture around them with a linear model.",
        suits=suits,
        body=body,
        defaults=lambda profile: {"side": 64, "patches": 0, "pixels": 60, "folds": 2, "models": ["linear"]},
        simpler=lambda profile, settings: {**settings, "side": 32},
        merge=merge_body,
    ),
    Recipe(
        name="masks",
        title="Classifies pixels by brightness, edges, texture and patches around them with a linear model.",
        suits=suits,
        body=body,
        defaults=lambda profile: {"side": 128, "patches": 30, "pixels": 120, "folds": 3, "models": ["linear"]},
        improvements=_improvements,
        simpler=lambda profile, settings: {**settings, "side": 48, "patches": 0},
        merge=merge_body,
        time_share=0.5,
    ),
    Recipe(
        name="boosted masks",
        title="Classifies pixels by brightness, edges and texture around them with boosting.",
        suits=suits,
        body=body,
        defaults=lambda profile: {"side": 96, "patches": 0, "pixels": 120, "folds": 3, "models": ["boosting"]},
        improvements=_improvements,
        simpler=lambda profile, settings: {**settings, "side": 48, "pixels": 40, "models": ["linear"]},
        merge=merge_body,
        time_share=0.5,
    ),
)
