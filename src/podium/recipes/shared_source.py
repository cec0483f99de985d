"""Source shared by the bodies of several recipes: reading tables, the truth, the target of models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from podium.recipes.script_ending import output_constants
from podium.recipes.script_writer import assign
from podium.tables.forbidden_columns import forbidden_names
from podium.tables.profile import Profile


def read_tables_source(profile: Profile, constants: Mapping[str, Any], *, options: str = "") -> str:
    """Return source that reads `train`, `test`, `sample` and `keys`.

    Args:
        constants: additional constants of the script.
        options: additional arguments for reading train, preceded by a comma.
    """
    assert profile.train is not None and profile.test is not None
    given = assign(TRAIN=profile.train.file, TEST=profile.test.file, KEY=profile.key) + output_constants(profile)
    return f"""{given}{assign(**constants)}
train = read_table(TRAIN, words=LABELS{options})
{labelled_source(profile)}
test, sample = read_table(TEST), read_sample(SAMPLE)
keys = read_table(TEST, usecols=[KEY], dtype=str, keep_default_na=False).set_axis(IDS, axis=1)
"""


def labelled_source(profile: Profile) -> str:
    """Return source that keeps the rows of `train` with known labels."""
    if profile.is_listed:
        return 'train[LABELS] = train[LABELS].fillna("")  # no label applies'
    known = "encode_classes(train[LABELS[0]], CLASSES) >= 0" if profile.classes else "train[LABELS].notna().all(axis=1)"
    return f"train = train[{known}].reset_index(drop=True)"


def further_source(profile: Profile) -> str:
    """Return source that joins side tables to `both` and adds the new columns to NUMBERS and GROUPS."""
    if not profile.parents and not profile.records:
        return ""
    parents, records = (
        [(one.file, one.column, one.key) for one in some] for some in (profile.parents, profile.records)
    )
    left_out = sorted({*forbidden_names(profile.brief), *profile.labels, *profile.targets})
    return f"""{assign(PARENTS=parents, RECORDS=records, LEFT_OUT=left_out)}
both, more_numbers, more_groups = join_further(both, PARENTS, RECORDS, LEFT_OUT)
NUMBERS, GROUPS = [*NUMBERS, *more_numbers], [*GROUPS, *more_groups]
"""


def truth_source(profile: Profile) -> str:
    """Return source that computes `truth`."""
    if profile.separator is not None:
        names = "CLASSES" if profile.is_listed else "TARGETS"
        return f"truth = encode_listed_labels(train[LABELS[0]], {names}, {profile.separator!r})"
    if profile.classes:
        return "truth = encode_classes(train[LABELS[0]], CLASSES)"
    one = "LABELS[0]" if len(profile.labels) == 1 else "LABELS"
    source = f"truth = train[{one}].to_numpy(float)"
    if profile.is_distribution and profile.goal == "regression":
        source += "\ntruth = truth / np.maximum(truth.sum(axis=1, keepdims=True), 1e-9)"
    return source


def target_source(profile: Profile, *, is_log: bool = False) -> str:
    """Return source of the target of models: `truth`, or a transformation of it."""
    if profile.goal == "multilabel":
        return "truth.astype(int)"
    if profile.is_survival:
        return "excess_events(truth)"
    return "np.log1p(truth)" if is_log else "truth"


def fold_source(profile: Profile, count: int) -> str:
    """Return source of the folds of a table: the latest rows if the test set is later, otherwise random folds.

    It uses `truth`, `train` and `both`. All recipes of a task validate in the same way, so that scores are comparable.
    """
    if profile.time is not None:
        return f"later_folds(both[{profile.time!r}], len(train))"
    return f"make_folds(truth, {count}{group_source(profile)})"


def group_source(profile: Profile, rows: str = "") -> str:
    """Return source of the argument of `make_folds` that keeps groups together; empty if there are none."""
    return "" if profile.group is None else f", train[{profile.group!r}]{rows}"
