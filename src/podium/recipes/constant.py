"""What is submitted first: the sample submission as it is, then the same prediction for every row."""

from __future__ import annotations

from podium.recipes.finishing import ending, forms
from podium.recipes.profile import Profile
from podium.recipes.recipe import Recipe, Settings
from podium.recipes.scripts import assign
from podium.recipes.tabular import truth

WORST = 1e6
"""Stands for the score of a submission that nothing is known about: this, or minus this where higher is better."""


CORRELATIONS = ("pearson", "spearman")
"""Metrics that cannot say anything about the same prediction for every row."""
WORDS = ("mean_levenshtein", "normalised_levenshtein", "word_jaccard", "accuracy", "error_rate")
"""Metrics by which one text can be nearly as good as another."""


def suits(profile: Profile) -> bool:
    """Whether there is something to count in train: classes, numbers, items or words, not boxes or masks."""
    if profile.train is None or not profile.labels or profile.metric in CORRELATIONS:
        return False
    if profile.is_sample_telling and profile.test is None:
        return False
    return profile.goal not in ("text", "unknown") or profile.metric in WORDS


def story(profile: Profile, settings: Settings) -> str:
    """What is most common in train."""
    assert profile.train is not None
    if profile.goal in ("list", "text", "unknown"):
        return _commonest(profile)
    middle = {
        "binary": "truth.mean()",
        "multiclass": "(np.bincount(truth, minlength=len(CLASSES)) + 1) / (len(truth) + len(CLASSES))",
        "multilabel": "truth.mean(axis=0)",
        "ordinal": "np.median(truth)",
    }.get(profile.goal, _middle_number(profile))
    return (
        assign(TRAIN=profile.train.file)
        + forms(profile)
        + f"""
train, sample, keys = read_table(TRAIN), read_sample(SAMPLE), None
train = train[train[LABELS].notna().all(axis=1)]
{truth(profile)}
usual = {middle}
oof, guess = np.zeros((len(truth), *np.shape(usual))) + usual, np.zeros((len(sample), *np.shape(usual))) + usual
rows = np.ones(len(truth), dtype=bool)
"""
        + ending(profile, settings)
    )


def _middle_number(profile: Profile) -> str:
    if profile.metric in ("mae", "smape"):
        return "np.median(truth, axis=0)"
    return "np.expm1(np.log1p(truth).mean(axis=0))" if profile.metric == "rmsle" else "truth.mean(axis=0)"


def _commonest(profile: Profile) -> str:
    """The items that are most common in train where lists are asked for, or else the most common value."""
    assert profile.train is not None
    count = int(profile.metric_options.get("k", 1))
    split = ".astype(str).str.split().explode()" if profile.goal == "list" else ""
    return f"""{assign(TRAIN=profile.train.file)}{forms(profile)}
train, sample = read_table(TRAIN), read_sample(SAMPLE)
values = {{}}
for target, label in zip(TARGETS, LABELS):
    common = train[label].dropna(){split}.value_counts().index[:{count}].astype(str)
    values[target] = [" ".join(common)] * len(sample)
write_submission(sample, IDS, None, values)
{_unknown_score(profile, WORST / 2)}
"""


def can_copy(profile: Profile) -> bool:
    """Whether words of a row's own text are asked for."""
    is_known = profile.train is not None and profile.test is not None and bool(profile.labels)
    return is_known and profile.metric == "word_jaccard" and bool(profile.of_kind("text"))


def copy_story(profile: Profile, settings: Settings) -> str:
    """Copies the text that has most words in common with what is asked for."""
    assert profile.train is not None and profile.test is not None
    given = assign(TRAIN=profile.train.file, TEST=profile.test.file, KEY=profile.key, TEXTS=profile.of_kind("text"))
    return f"""{given}{forms(profile)}
train, test, sample = read_table(TRAIN), read_table(TEST), read_sample(SAMPLE)
keys = read_table(TEST, usecols=[KEY], dtype=str).set_axis(IDS, axis=1)
scores = {{name: word_jaccard(train[LABELS[0]], train[name]) for name in TEXTS}}
best = max(scores, key=scores.get)
print("words in common", scores)
write_submission(sample, IDS, keys, {{TARGETS[0]: test[best].fillna("")}})
print(f"podium-metric: {{scores[best]:.6f}}")
"""


def sample_story(profile: Profile, settings: Settings) -> str:
    """Needs nothing but Python itself, so that in a moment there is a submission whatever becomes of the rest."""
    content = "packed_bytes(SAMPLE)"
    if profile.metric in CORRELATIONS:
        content = f"varied({content}, {list(profile.targets)!r})"
    return f"""{assign(SAMPLE=profile.sample)}
Path("submission.csv").write_bytes({content})
{_unknown_score(profile, WORST)}
"""


def _unknown_score(profile: Profile, worst: float) -> str:
    return f'print("podium-metric: {-worst if profile.higher_is_better else worst}")  # not measured: as bad as can be'


RECIPES = (
    Recipe(
        name="constant",
        title="The same prediction for every row: what is most common in train.",
        suits=suits,
        story=story,
        can_merge=False,
    ),
    Recipe(
        name="copy",
        title="Copies the text of a row that has most words in common with what is asked for.",
        suits=can_copy,
        story=copy_story,
        can_merge=False,
    ),
    Recipe(
        name="sample",
        title="The sample submission as it is.",
        suits=lambda profile: True,
        story=sample_story,
        can_merge=False,
    ),
)
FALLBACKS = tuple(recipe.name for recipe in RECIPES)
