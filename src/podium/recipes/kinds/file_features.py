"""Source that recipes for images and audio share: reading the files of rows, and models of features."""

from __future__ import annotations

from collections.abc import Sequence

from podium.recipes.recipe import Improvement, Settings
from podium.recipes.script_ending import ending, loss_source, output_constants
from podium.recipes.script_writer import assign
from podium.recipes.shared_source import group_source, labelled_source, target_source, truth_source
from podium.tables.profile import Profile

MODELS = {
    "linear": "fit_linear(features, y, seed)",
    "kernel": "fit_kernel(features, y, seed)",
    "trees": "fit_trees(features, y, seed, count=300)",
    "boosting": "fit_boosting(features, y, seed, first=60, learning_rate=0.1, max_iter=80, max_leaf_nodes=8)",
}


def path_source(profile: Profile) -> str:
    """The start of a body: tables, the truth, and the paths of the files of train and of test rows.

    Train rows are shuffled, because the time may only suffice for some files, which should be a random sample. All
    scripts shuffle in the same way, so that their predictions can be blended.
    """
    assert profile.train is not None and profile.file_patterns is not None
    patterns = profile.file_patterns
    given = assign(TRAIN=profile.train.file) + output_constants(profile)
    given += assign(COLUMN=patterns.column, TRAIN_FILES=patterns.train, TEST_FILES=patterns.test)
    test, names = "", "sample[IDS[0]]"
    if profile.test is not None:
        given += assign(TEST=profile.test.file, KEY=profile.key)
        test = "test = read_table(TEST, words=[KEY], dtype={KEY: str})\n"
        test += "test = test.set_index(test[KEY]).reindex(sample[IDS[0]])\n"
        if patterns.column in profile.test and patterns.column != profile.key:
            names = "ids_as_text(test[COLUMN])"
    return f"""{given}
train, sample, keys = read_table(TRAIN, words=LABELS), read_sample(SAMPLE), None
{labelled_source(profile)}
train = train.sample(frac=1, random_state=0, ignore_index=True)
{truth_source(profile)}
{test}train_paths = file_paths(TRAIN_FILES, ids_as_text(train[COLUMN]))
test_paths = file_paths(TEST_FILES, {names})
"""


def column_source(profile: Profile) -> str:
    """Source that adds the columns of the tables to `features`; nothing if there are none."""
    numbers, groups = profile.of_kind("number"), profile.group_names()
    if profile.test is None or not numbers + groups:
        return ""
    return f"""both = stack_rows(train[:read], test.reset_index(drop=True))
groups = group_features(both, {groups!r}, [])
numbers = number_features(both, {numbers!r}).join(one_hot_groups(groups))
features = np.hstack([features, numbers.to_numpy(np.float32)])
"""


def learning_source(profile: Profile, settings: Settings) -> str:
    """The end of a body, after `features` of the first `read` train rows and of all test rows were computed."""
    return f"""{column_source(profile)}print("features", features.shape, "after", round(time_used(), 2), "of the time")
features = principal_components(features, {settings["parts"]})
folds = make_folds(truth[:read], {settings["folds"]}{group_source(profile, "[:read]")})
{_blend_source(profile, settings)}
unread = len(truth) - read
oof, rows = np.concatenate([oof, np.zeros((unread, *oof.shape[1:]))]), np.pad(rows, (0, unread))
{ending(profile, settings)}"""


def _blend_source(profile: Profile, settings: Settings) -> str:
    """Return source that computes `oof`, `prediction` and `rows` from `features` and `folds` with a blend of models."""
    fits = "".join(f"    {name!r}: lambda features, y, seed: {MODELS[name]},\n" for name in settings["models"])
    # From times risks are learnt, which the metric would take for times.
    loss = "rmse(truth, oof)" if profile.is_survival else loss_source(profile)
    return f"""fits = {{
{fits}}}


def loss(truth, oof):
    return {loss}


oof, prediction, rows = fit_blend(features, {target_source(profile)}[:read], folds, fits, loss)"""


def model_improvements(settings: Settings) -> Sequence[Improvement]:
    """Further models worth blending on the same features."""
    models = list(settings["models"])
    return [
        Improvement(f"blend in a {name} model", {"models": [*models, name]})
        for name in ("kernel", "trees", "boosting")
        if name not in models
    ]
