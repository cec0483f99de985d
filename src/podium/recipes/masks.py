"""Recipes for masks: every pixel is judged by its surroundings, and what comes of it is cleaned up."""

from __future__ import annotations

import re
from collections.abc import Sequence

from podium.recipes.files import PICTURES
from podium.recipes.profile import Profile
from podium.recipes.recipe import Move, Recipe, Settings
from podium.recipes.scripts import assign

_MASK_WORDS = re.compile(r"mask|segment|annotation|truth", re.IGNORECASE)
_SCORES = {"rle_mean_iou": "mask_iou", "rle_iou_precision": "mask_precision"}


def suits(profile: Profile) -> bool:
    """Whether pictures and masks of the train rows are there, and one mask is asked for in a row."""
    if profile.shape != "masks" or len(profile.targets) != 1 or profile.pointers is None or profile.train is None:
        return False
    pictures = any(files.suffix in PICTURES for files in profile.files)
    return pictures and (profile.goal == "text" or mask_files(profile) is not None)


def mask_files(profile: Profile) -> str | None:
    """The pattern that leads from a train row to its mask, where masks are kept as pictures."""
    for files in profile.files:
        for example in files.examples:
            place, _, name = f"{files.folder}/{example}".rpartition("/")
            if files.suffix in PICTURES and _MASK_WORDS.search(place):
                return f"{place}/{{}}{name[-len(files.suffix) :]}"
    return None


def run_order(brief: str) -> str | None:
    """Along what pixels are counted, as far as the brief says."""
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
    """The score of the kit that fits the metric."""
    if profile.metric == "rle_dice" and profile.metric_options.get("pooled"):
        return "pooled_dice"
    return _SCORES.get(profile.metric, "mask_dice")


def reading(profile: Profile) -> str:
    """The start of a story: pictures and masks."""
    assert profile.train is not None and profile.pointers is not None
    pointers, masks, has_runs = profile.pointers, mask_files(profile), profile.goal == "text"
    given = assign(TRAIN=profile.train.file, SAMPLE=profile.sample, IDS=profile.ids, TARGET=profile.targets[0])
    given += assign(
        COLUMN=pointers.column, TRAIN_FILES=pointers.train, TEST_FILES=pointers.test, FIRST=first_pixel(profile.brief)
    )
    given += assign(LABEL=profile.labels[0]) if has_runs else assign(MASK_FILES=masks)
    order = run_order(profile.brief)
    source = f"""{given}
train, sample = read_table(TRAIN).drop_duplicates(COLUMN), read_sample(SAMPLE)
names = list(as_names(train[COLUMN]))
originals = [read_sized(path) for path in paths_of(TRAIN_FILES, names)]
shapes = [picture.shape[:2] for picture in originals]
"""
    if has_runs:
        look = "likeliest_order(train[LABEL][:50], shapes[:50])" if order is None else repr(order)
        source += f"order = {look}\n"
        source += "truth = [decode_runs(runs, shape, order, FIRST) for runs, shape in zip(train[LABEL], shapes)]\n"
    else:
        source += f"order = {order or 'columns'!r}\ntruth = [read_mask(MASK_FILES.format(name)) for name in names]\n"
    return source


def story(profile: Profile, settings: Settings) -> str:
    """Learns from some pixels of every picture and judges all pixels of those it has not seen."""
    return f"""{reading(profile)}
pictures = [shrunk(picture, {settings["side"]}) for picture in originals]
masks = [shrunk(mask.astype(np.uint8) * 255, {settings["side"]}) > 127 for mask in truth]
tests = [read_sized(path) for path in paths_of(TEST_FILES, sample[IDS[0]])]
sizes = [picture.shape[:2] for picture in tests]
codes = typical_codes(pictures, {settings["patches"]})
features, labels = sampled_pixels(pictures, masks, codes, each={settings["pixels"]})
print("pixels looked at after", round(time_used(), 2), "of the time", flush=True)

fold = picture_folds(len(pictures), {settings["folds"]})
chances, models = {{}}, []
for number in range({settings["folds"]}):
    if number and time_used() > 0.5:
        break
    learn, check = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
    chosen, known = np.concatenate([features[i] for i in learn]), np.concatenate([labels[i] for i in learn])
    fitted = [pixel_model(chosen, known, kind) for kind in {settings["models"]}]
    chances.update(zip(check, predicted_chances([pictures[i] for i in check], codes, fitted)))
    models += fitted
predicted = predicted_chances([shrunk(picture, {settings["side"]}) for picture in tests], codes, models)
oof = [chances.get(i, np.zeros(mask.shape, np.float32)) for i, mask in enumerate(masks)]
rows = sorted(chances)
save_chances("chances.npz", oof, predicted)
{finishing(profile)}"""


def finishing(profile: Profile) -> str:
    """The end of a story that has made `oof` of train pictures (good for `rows`) and `predicted` of test pictures."""
    return f"""
shown = [stretched(oof[i], shapes[i]) for i in rows]
cleaning, score = best_cleaning(shown, [truth[i] for i in rows], {score_name(profile)})
print("smoothed by, cut at, least share:", cleaning)
found = [cleaned(stretched(one, size), *cleaning) for one, size in zip(predicted, sizes)]
write_submission(sample, IDS, None, {{TARGET: [encode_runs(mask, order, FIRST) for mask in found]}})
print(f"podium-metric: {{score:.6f}}")
"""


def merge(profile: Profile, folders: Sequence[str]) -> str:
    """The mean of what scripts have found, cleaned up anew."""
    return f"""FOLDERS = {list(folders)!r}
{reading(profile)}
sizes = [read_sized(path).shape[:2] for path in paths_of(TEST_FILES, sample[IDS[0]])]
oof, predicted = mean_chances(FOLDERS, "chances.npz")
rows = [i for i, one in enumerate(oof) if one.max() > 0]
save_chances("chances.npz", oof, predicted)
{finishing(profile)}"""


def _moves(profile: Profile, settings: Settings) -> Sequence[Move]:
    return [
        Move("judge by both boosting and a linear model", {"models": ["linear", "boosting"]}),
        Move("look at more pixels", {"pixels": 3 * settings["pixels"]}),
        Move("take more patches", {"patches": 2 * max(15, settings["patches"])}),
        Move("look closer", {"side": 2 * settings["side"]}),
    ]


RECIPES = (
    Recipe(
        name="quick masks",
        title="Judges pixels by shades, edges and grain around them with a linear model.",
        suits=suits,
        story=story,
        defaults=lambda profile: {"side": 64, "patches": 0, "pixels": 60, "folds": 2, "models": ["linear"]},
        simpler=lambda profile, settings: {**settings, "side": 32},
        merge=merge,
    ),
    Recipe(
        name="masks",
        title="Judges pixels by shades, edges, grain and typical patches around them with a linear model.",
        suits=suits,
        story=story,
        defaults=lambda profile: {"side": 128, "patches": 30, "pixels": 120, "folds": 3, "models": ["linear"]},
        moves=_moves,
        simpler=lambda profile, settings: {**settings, "side": 48, "patches": 0},
        merge=merge,
        share=0.5,
    ),
    Recipe(
        name="boosted masks",
        title="Judges pixels by shades, edges and grain around them with boosting.",
        suits=suits,
        story=story,
        defaults=lambda profile: {"side": 96, "patches": 0, "pixels": 120, "folds": 3, "models": ["boosting"]},
        moves=_moves,
        simpler=lambda profile, settings: {**settings, "side": 48, "pixels": 40, "models": ["linear"]},
        merge=merge,
        share=0.5,
    ),
)
