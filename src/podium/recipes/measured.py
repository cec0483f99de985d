"""What recipes for pictures and sounds share: rows that lead to files, and models of what is measured on these."""

from __future__ import annotations

from collections.abc import Sequence

from podium.recipes.blending import loss_source
from podium.recipes.finishing import ending, forms
from podium.recipes.profile import Profile
from podium.recipes.recipe import Move, Settings
from podium.recipes.scripts import assign
from podium.recipes.tabular import is_grouping, truth

GOALS = ("binary", "multiclass", "multilabel", "ordinal", "regression")
MODELS = {
    "linear": "linear_fit(features, aim, seed)",
    "curved": "curved_fit(features, aim, seed)",
    "trees": "trees_fit(features, aim, seed, count=300)",
    "boosting": "boosted_fit(features, aim, seed, first=60, learning_rate=0.1, max_iter=80, max_leaf_nodes=8)",
}


def rows_to_files(profile: Profile) -> str:
    """The start of a story: tables, the truth, and the paths of all rows, those of train first."""
    assert profile.train is not None and profile.pointers is not None
    pointers = profile.pointers
    given = assign(TRAIN=profile.train.file) + forms(profile)
    given += assign(COLUMN=pointers.column, TRAIN_FILES=pointers.train, TEST_FILES=pointers.test)
    return f"""{given}{_test_constants(profile)}
train, sample, keys = read_table(TRAIN), read_sample(SAMPLE), None
train = train[train[LABELS].notna().all(axis=1)].reset_index(drop=True)
{_shuffled(profile)}{truth(profile)}
{_test_rows(profile)}train_paths = paths_of(TRAIN_FILES, as_names(train[COLUMN]))
test_paths = paths_of(TEST_FILES, {_test_names(profile)})
"""


def _test_constants(profile: Profile) -> str:
    return assign(TEST=profile.test.file, KEY=profile.key) if profile.test is not None else ""


def _shuffled(profile: Profile) -> str:
    """With many files there may be no time for all of them; those that are read should be of all sorts."""
    assert profile.train is not None
    return "train = train.sample(frac=1, random_state=0, ignore_index=True)\n" if profile.train.rows > 5000 else ""


def _test_rows(profile: Profile) -> str:
    if profile.test is None:
        return ""
    return "test = read_table(TEST)\ntest = test.set_index(as_names(test[KEY])).reindex(sample[IDS[0]])\n"


def _test_names(profile: Profile) -> str:
    assert profile.pointers is not None
    column = profile.pointers.column
    if profile.test is not None and column in profile.test and column != profile.key:
        return "as_names(test[COLUMN])"
    return "sample[IDS[0]]"


def table_features(profile: Profile) -> str:
    """Source that adds what the tables say about rows to `features`; nothing if they say nothing."""
    numbers = [column.name for column in profile.features if column.kind == "number"]
    groups = [column.name for column in profile.features if column.kind == "category" or is_grouping(column)]
    if profile.test is None or not numbers + groups:
        return ""
    return f"""both = stacked(train[:read], test.reset_index(drop=True))
groups = group_features(both, {groups!r}, [])
numbers = number_features(both, {numbers!r}).join(flags(groups))
features = np.hstack([features, numbers.to_numpy(np.float32)])
"""


def learning(profile: Profile, settings: Settings) -> str:
    """The end of a story that has made `features` of the first `read` train rows and of all test rows."""
    aim = "truth.astype(int)" if profile.goal == "multilabel" else "truth"
    group = "" if profile.group is None else f", train[{profile.group!r}][:read]"
    fits = "".join(f"    {name!r}: lambda features, aim, seed: {MODELS[name]},\n" for name in settings["models"])
    return f"""{table_features(profile)}print("measured", features.shape, "after", round(time_used(), 2), "of the time")
features = condensed(features, {settings["parts"]})
folds = make_folds(truth[:read], {settings["folds"]}{group})
fits = {{
{fits}}}


def loss(truth, oof):
    return {loss_source(profile)}


part, guess, done = best_blend(features, {aim}[:read], folds, fits, loss)
oof, rows = np.zeros((len(truth), *part.shape[1:])), np.arange(len(truth)) < read
oof[:read], rows[:read] = part, done
{ending(profile, settings)}"""


def model_moves(settings: Settings) -> Sequence[Move]:
    """Other models worth trying on the same features."""
    models = list(settings["models"])
    return [
        Move(f"join in a model by {name}", {"models": [*models, name]})
        for name in ("curved", "trees", "boosting")
        if name not in models
    ]
