"""Fallbacks: the sample submission, the same prediction for every row, or a copied text."""

from __future__ import annotations

from podium.recipes.recipe import Recipe, Settings
from podium.recipes.script_ending import ending, output_constants
from podium.recipes.script_writer import assign
from podium.recipes.shared_source import labelled_source, truth_source
from podium.tables.profile import Profile

NO_SCORE = 'print("No validation score: nothing was held out to measure it on.")'
CORRELATIONS = ("pearson", "spearman")
"""Metrics that are undefined for the same prediction for every row."""
TEXT_METRICS = ("mean_levenshtein", "normalised_levenshtein", "word_jaccard", "accuracy", "error_rate")
"""Metrics by which the most common text can score."""


def suits(profile: Profile) -> bool:
    """Return whether train has classes, numbers, items or words to count, not boxes or masks."""
    if profile.train is None or not profile.labels or profile.metric in CORRELATIONS:
        return False
    if profile.is_sample_informative and profile.test is None:
        return False
    return profile.goal not in ("text", "unknown") or profile.metric in TEXT_METRICS


def constant_body(profile: Profile, settings: Settings) -> str:
    """The most common prediction of train, for every row."""
    assert profile.train is not None
    if profile.goal in ("list", "text", "unknown"):
        return _most_common(profile)
    centre = {
        "binary": "truth.mean()",
        "multiclass": "(np.bincount(truth, minlength=len(CLASSES)) + 1) / (len(truth) + len(CLASSES))",
        "multilabel": "truth.mean(axis=0)",
        "ordinal": "np.median(truth)",
    }.get(profile.goal, _central_number(profile))
    return f"""{assign(TRAIN=profile.train.file)}{output_constants(profile)}
train, sample, keys = read_table(TRAIN, words=LABELS), read_sample(SAMPLE), None
{labelled_source(profile)}
{truth_source(profile)}
folds = {_folds(profile)}


def centre(truth):
    return {centre}


constant = np.asarray(centre(truth))
prediction = np.zeros((len(sample), *constant.shape)) + constant
oof, rows = np.zeros((len(truth), *constant.shape)), np.zeros(len(truth), dtype=bool)
for learn, check in folds:
    oof[check], rows[check] = centre(truth[learn]), True
{ending(profile, settings)}"""


def _folds(profile: Profile) -> str:
    """Return source of the folds: those of other recipes if the test set is later, otherwise one fold of all rows."""
    if profile.time is None or profile.test is None:
        return "[(np.arange(len(truth)), np.arange(len(truth)))]"
    later = f"read_table({profile.test.file!r})[{profile.time!r}]"
    return f"later_folds(pd.concat([train[{profile.time!r}], {later}]), len(train))"


def _central_number(profile: Profile) -> str:
    if profile.metric in ("mae", "smape"):
        return "np.median(truth, axis=0)"
    return "np.expm1(np.log1p(truth).mean(axis=0))" if profile.metric == "rmsle" else "truth.mean(axis=0)"


def _most_common(profile: Profile) -> str:
    """The most common items of train where lists are predicted, or else the most common value."""
    assert profile.train is not None
    count = int(profile.metric_options.get("k", 1))
    split = ".astype(str).str.split().explode()" if profile.goal == "list" else ""
    return f"""{assign(TRAIN=profile.train.file)}{output_constants(profile)}
train, sample = read_table(TRAIN, words=LABELS), read_sample(SAMPLE)
values = {{}}
for target, label in zip(TARGETS, LABELS):
    common = train[label].dropna(){split}.value_counts().index[:{count}].astype(str)
    values[target] = [" ".join(common)] * len(sample)
write_submission(sample, IDS, None, values)
{NO_SCORE}
"""


def can_copy(profile: Profile) -> bool:
    """Return whether words of a row's own text are predicted."""
    is_known = profile.train is not None and profile.test is not None and bool(profile.labels)
    return is_known and profile.metric == "word_jaccard" and bool(profile.of_kind("text"))


def copy_body(profile: Profile, settings: Settings) -> str:
    """Copies the text column that has most words in common with the target."""
    assert profile.train is not None and profile.test is not None
    given = assign(TRAIN=profile.train.file, TEST=profile.test.file, KEY=profile.key, TEXTS=profile.of_kind("text"))
    return f"""{given}{output_constants(profile)}
train, test, sample = read_table(TRAIN), read_table(TEST), read_sample(SAMPLE)
keys = read_table(TEST, usecols=[KEY], dtype=str, keep_default_na=False).set_axis(IDS, axis=1)
scores = {{name: word_jaccard(train[LABELS[0]], train[name]) for name in TEXTS}}
best = max(scores, key=scores.get)
print("words in common", scores)
write_submission(sample, IDS, keys, {{TARGETS[0]: test[best].fillna("")}})
print(f"podium-metric: {{scores[best]:.6f}}")
"""


def sample_body(profile: Profile, settings: Settings) -> str:
    """Needs only Python itself, so that a valid submission exists within seconds."""
    content = "read_packed_file(SAMPLE)"
    if profile.metric in CORRELATIONS:
        content = f"vary_columns({content}, {list(profile.targets)!r})"
    return f"""{assign(SAMPLE=profile.sample)}
Path("submission.csv").write_bytes({content})
{NO_SCORE}
"""


RECIPES = (
    Recipe(
        name="constant",
        title="The same prediction for every row: the most common one of train.",
        suits=suits,
        body=constant_body,
        can_merge=False,
        needs_targets=False,
    ),
    Recipe(
        name="copy",
        title="Copies the text column that has most words in common with the target.",
        suits=can_copy,
        body=copy_body,
        can_merge=False,
        needs_targets=False,
    ),
    Recipe(
        name="sample",
        title="The sample submission, unchanged.",
        suits=lambda profile: True,
        body=sample_body,
        can_merge=False,
        needs_targets=False,
    ),
)
FALLBACKS = tuple(recipe.name for recipe in RECIPES)
