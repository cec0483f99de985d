"""Looks at a task's public files and says what it found: a `Profile`.

Only the data, the brief and the sample submission are asked, never a task's name. Large files are read in part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.recipes.files import (
    ARRAYS,
    PICTURES,
    SOUNDS,
    Paths,
    describe_files,
    files_as_table,
    find_pointers,
    group_files,
    list_files,
)
from podium.recipes.profile import Column, Goal, Join, Profile, Shape, Spans, Table
from podium.recipes.tables import ROWS, Seen, as_text, describe_table, read_frame, read_tables

if TYPE_CHECKING:
    import pandas as pd

    from podium.task import Metric

COLUMNS = 200
"""As many columns of a table are looked through for ids."""
_RUNS = re.compile(r"^\d+ \d+( \d+ \d+)*$")
CLASS_METRICS = frozenset(
    [
        "roc_auc",
        "accuracy",
        "error_rate",
        "log_loss",
        "f1",
        "f_beta",
        "matthews",
        "weighted_auc",
        "bias_auc",
        "weighted_log_loss",
        "probabilistic_f1",
        "lwlrap",
        "kl_divergence",
    ]
)
LIST_METRICS = frozenset(("map_at_k", "ndcg_at_k", "label_micro_f1", "label_mean_f1"))


def profile_task(
    public: Path, *, brief: str, metric: Metric, sample: str, ids: tuple[str, ...], targets: tuple[str, ...]
) -> Profile:
    """The profile of a task.

    Args:
        public: the folder with its public files.
        sample: the sample submission's name in it.
    """
    size, listed = list_files(public)
    groups = group_files(public, listed)
    bare = Profile(
        brief=brief,
        metric=metric.name,
        metric_title=metric.title,
        metric_options=dict(metric.options),
        higher_is_better=metric.higher_is_better,
        sample=sample,
        ids=ids,
        targets=targets,
        files=describe_files(groups),
        size_bytes=size,
    )
    try:
        seen = read_tables(public, [name for name in listed if name != sample])
        return _profile(bare, read_frame(public / sample, text=True), seen, groups)
    # Data can be odd in more ways than anybody thinks of; a submission of some kind is still possible.
    except Exception as error:
        return replace(bare, doubts=(f"The data was not understood ({type(error).__name__}: {error}).",))


def _profile(bare: Profile, sample: pd.DataFrame, seen: Seen, groups: Paths) -> Profile:
    """Everything that follows from the tables."""
    doubts: list[str] = []
    test = _find_test(bare, sample, seen)
    train, labels, is_wide = _find_train(bare, seen, test)
    if train is None:
        train, labels, is_wide = _train_of_files(bare, sample, seen, groups)
    profile = replace(
        bare,
        tables=tuple(seen.tables.values()),
        train=None if train is None else seen.tables[train],
        test=None if test is None else seen.tables[test[0]],
        key=None if test is None else test[1],
        is_distribution=_adds_up(sample, bare.targets),
        is_sample_telling=_is_telling(sample, bare.targets),
    )
    if train is None:
        doubts.append("No table holds the target, so there is nothing to learn from.")
        return replace(profile, shape=_shape(profile, sample, seen, None), doubts=tuple(doubts))
    frame = seen.frames[train]
    if not labels:
        column, separator = _column_of_lists(frame, bare.targets) or ("", "")
        labels, profile = (column,), replace(profile, separator=separator)
    goal, classes, labels, is_wide = _goal(profile, sample, frame, labels, is_wide)
    profile = replace(profile, goal=goal, labels=labels, classes=classes, is_wide=is_wide)
    if len(labels) > 1:
        adds_up = profile.is_distribution and (profile.metric == "kl_divergence" or _adds_up(frame, labels))
        profile = replace(profile, is_distribution=adds_up)
    tests = None if test is None else seen.frames[test[0]]
    profile = replace(profile, pointers=find_pointers(groups, frame, tests, sample, profile.ids))
    profile = replace(profile, features=_features(profile, seen))
    profile = replace(profile, **_order(profile, seen), **_further(profile, seen))
    if goal in ("unknown", "text"):
        doubts.append("What is to be predicted is neither a class, a number nor a list.")
    return replace(profile, shape=_shape(profile, sample, seen, frame), doubts=tuple(doubts))


def _find_test(bare: Profile, sample: pd.DataFrame, seen: Seen) -> tuple[str, str] | None:
    """The table with the rows to predict, and its column with their ids."""
    if len(bare.ids) != 1 or bare.ids[0] not in sample:
        return None
    wanted = set(sample[bare.ids[0]].head(2000))
    found: list[tuple[float, str, str]] = []
    for name, frame in seen.frames.items():
        for described in seen.tables[name].columns[:COLUMNS]:
            column = described.name
            if column in bare.targets or not _may_be_id(described):
                continue
            share = len(wanted & set(frame[column].map(as_text))) / max(1, len(wanted))
            bonus = (
                0.2 * (column.lower() == bare.ids[0].lower())
                + 0.1 * ("test" in name.lower())
                - 0.3 * ("train" in name.lower())
            )
            bonus -= 0.2 * (frame[column].nunique() < len(frame))
            if share > 0.95 or (share > 0.3 and len(frame) >= ROWS):
                found.append((share + bonus, name, column))
    if not found:
        return None
    _, name, column = max(found)
    return name, column


def _may_be_id(column: Column) -> bool:
    return column.kind in ("category", "text", "date") or (column.kind == "number" and column.is_whole)


def _find_train(bare: Profile, seen: Seen, test: tuple[str, str] | None) -> tuple[str | None, tuple[str, ...], bool]:
    """The table with the truth, its columns that hold it, and whether the targets are classes of one of them.

    There are no such columns where one lists the targets that hold.
    """
    held = test[0] if test else None
    ranked = sorted(seen.frames, key=lambda name: ("train" not in name.lower(), -len(seen.frames[name])))
    ranked = [name for name in ranked if name != held]
    for name in ranked:
        if all(target in seen.frames[name] for target in bare.targets) and (
            seen.frames[name][list(bare.targets)].notna().any().all()
        ):
            return name, bare.targets, False
    if len(bare.targets) > 2:
        for name in ranked:
            column = _column_of_classes(seen.frames[name], bare.targets)
            if column is not None:
                return name, (column,), True
        for name in ranked:
            if _column_of_lists(seen.frames[name], bare.targets) is not None:
                return name, (), False
    if held is not None and len(bare.targets) == 1:
        for name in ranked:
            left = [str(column) for column in seen.frames[name] if column not in seen.frames[held]]
            shared = set(seen.frames[name]) & set(seen.frames[held])
            label = _likeliest_label(left, bare.targets[0])
            if len(shared) >= 2 and label is not None:
                return name, (label,), False
    return None, (), False


def _train_of_files(
    bare: Profile, sample: pd.DataFrame, seen: Seen, groups: Paths
) -> tuple[str | None, tuple[str, ...], bool]:
    """Like `_find_train`, where the folders or names of files tell their classes: a table of these is made."""
    if bare.metric not in CLASS_METRICS or not bare.targets or any(target not in sample for target in bare.targets):
        return None, (), False
    is_wide = len(bare.targets) > 2
    found = files_as_table(groups, sample[bare.ids[0]].head(50), bare.targets if is_wide else ())
    if found is None:
        return None, (), False
    name, frame, column = found
    seen.frames[name], seen.tables[name] = frame, describe_table(name, frame)
    return name, (column,), is_wide


def _column_of_classes(frame: pd.DataFrame, targets: Sequence[str]) -> str | None:
    """The column whose values are the names of the targets, as written or with a word before."""
    names = {_plain(target) for target in targets}
    for column in frame.columns:
        values = {_plain(as_text(value)) for value in frame[column].dropna().unique()[:5000]}
        if values and values <= names and len(values) > 1:
            return str(column)
        endings = {name.rpartition("_")[2] for name in names}
        if values and len(values) > 1 and values <= endings and len(endings) == len(names):
            return str(column)
    return None


def _column_of_lists(frame: pd.DataFrame, targets: Sequence[str]) -> tuple[str, str] | None:
    """The column that lists names of targets, and what lies between these."""
    names = set(targets)
    for column in frame.columns:
        values = [as_text(value) for value in frame[column].dropna().unique()[:2000]]
        for separator in (",", " ", ";", "|"):
            items = [item for value in values for item in value.split(separator)]
            if any(separator in value for value in values) and set(items) <= names:
                return str(column), separator
    return None


def _plain(text: str) -> str:
    return text.strip().lower().replace(" ", "_")


def _likeliest_label(columns: Sequence[str], target: str) -> str | None:
    if len(columns) == 1:
        return str(columns[0])
    usual = [target.lower(), "target", "label", "class", "y", "outcome", "score", "category_id", "category"]
    named = [column for column in columns if str(column).lower() in usual]
    return str(named[0]) if named else None


def _goal(
    profile: Profile, sample: pd.DataFrame, frame: pd.DataFrame, labels: tuple[str, ...], is_wide: bool
) -> tuple[Goal, tuple[Any, ...], tuple[str, ...], bool]:
    """What is to be predicted; with its classes, the columns that hold the truth, and whether targets are classes."""
    import pandas as pd

    if profile.separator is not None:
        return "multilabel", (), labels, False
    if is_wide:
        return "multiclass", _classes_by_target(frame[labels[0]], profile.targets), labels, True
    if len(labels) > 1:
        numbers = all(pd.api.types.is_numeric_dtype(frame[label]) for label in labels)
        if not numbers:
            return "unknown", (), labels, False
        flags = frame[list(labels)].isin([0, 1]).all().all()
        return ("multilabel" if flags else "regression"), (), labels, False
    label, known = labels[0], frame[labels[0]].dropna()
    if profile.metric in LIST_METRICS or _is_list(sample[profile.targets[0]]):
        return ("list" if profile.metric in LIST_METRICS else "text"), (), labels, False
    if _RUNS.match(str(known.iloc[0])) and known.dtype == object:
        return "text", (), labels, False
    return (*_single_goal(profile, label, known), labels, False)


def _single_goal(profile: Profile, label: str, known: pd.Series) -> tuple[Goal, tuple[Any, ...]]:
    import pandas as pd

    distinct = int(known.nunique())
    is_number = pd.api.types.is_numeric_dtype(known) and not pd.api.types.is_bool_dtype(known)
    whole = is_number and bool((known == known.round()).all())
    if profile.metric == "quadratic_kappa" and whole:
        return "ordinal", ()
    by_class = profile.metric in CLASS_METRICS
    if is_number and not (by_class and (whole or distinct == 2)):
        return "regression", ()
    if distinct == 2 and (by_class or is_number):
        return "binary", tuple(_plain_value(value) for value in sorted(known.unique()))
    if 2 < distinct <= max(20, len(known) // 2) and by_class:
        return "multiclass", tuple(_plain_value(value) for value in sorted(known.unique()))
    return "text", ()


def _classes_by_target(label: pd.Series, targets: Sequence[str]) -> tuple[Any, ...]:
    """The values of a label, in the order of the targets that are named after them."""
    values = {_plain(as_text(value)): _plain_value(value) for value in label.dropna().unique()}
    names = [_plain(target) for target in targets]
    found = (values.get(name, values.get(name.rpartition("_")[2])) for name in names)
    return tuple(target if value is None else value for value, target in zip(found, targets, strict=True))


def _plain_value(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _is_list(values: pd.Series) -> bool:
    """Whether cells hold several items between blanks."""
    some = values[values.str.strip() != ""].head(200)
    return len(some) > 0 and float(some.str.split().str.len().mean()) >= 3


def _is_telling(sample: pd.DataFrame, targets: Sequence[str]) -> bool:
    import pandas as pd

    if len(targets) != 1 or targets[0] not in sample:
        return False
    words = sample[targets[0]][pd.to_numeric(sample[targets[0]], errors="coerce").isna()]
    return bool(words.nunique() > max(2, 0.1 * len(sample)))


def _adds_up(sample: pd.DataFrame, targets: Sequence[str]) -> bool:
    import pandas as pd

    if len(targets) < 2 or any(target not in sample for target in targets):
        return False
    numbers = sample[list(targets)].head(500).apply(pd.to_numeric, errors="coerce")
    return bool(((numbers.sum(axis=1) - 1).abs() < 1e-3).all())


def _features(profile: Profile, seen: Seen) -> tuple[Column, ...]:
    """Columns that train and test share, other than ids and columns that say nothing."""
    train, test = profile.train, profile.test
    if train is None or test is None:
        return ()
    left_out = {*profile.ids, profile.key, *profile.labels, *profile.targets}
    # Where rows are known by what they say, that is all there is to learn from.
    left_out -= {column.name for column in train.columns if column.kind == "text" and column.name == profile.key}
    shared = [column for column in train.columns if column.name in test and column.name not in left_out]
    return tuple(
        column
        for column in shared
        if column.kind != "empty" and (column.distinct > 1 or column.missing > 0) and not _is_id(column, train)
    )


def _is_id(column: Column, table: Table) -> bool:
    """Whether every row has a value of its own that is no measurement, date or text."""
    unique = column.distinct >= 0.98 * table.rows * (1 - column.missing) and table.rows > 50
    names = column.name.lower()
    as_id = names == "id" or names.endswith(("_id", " id", "uid"))
    if column.kind == "category":
        return unique
    return unique and column.is_whole and as_id


def _order(profile: Profile, seen: Seen) -> Mapping[str, Any]:
    """How train and test relate: by time, by groups; and what tells series apart."""
    import pandas as pd

    assert profile.train is not None
    if profile.test is None:
        return {}
    train, test = seen.frames[profile.train.file], seen.frames[profile.test.file]
    found: dict[str, Any] = {}
    for column in profile.of_kind("date"):
        if profile.train.is_cut:
            continue
        before, after = (pd.to_datetime(part[column], errors="coerce") for part in (train, test))
        if before.max() <= after.min():
            found["time"] = column
            found["series"] = _series(train, column, profile)
            break
    for feature in profile.features:
        looks = feature.kind == "category" or feature.is_code
        if (
            looks
            and 20 <= feature.distinct < 0.6 * len(train)
            and not set(train[feature.name]) & set(test[feature.name])
        ):
            found.setdefault("group", feature.name)
    return found


def _series(train: pd.DataFrame, time: str, profile: Profile) -> tuple[str, ...]:
    """The columns that, with the time, make a row unique; fewest first."""
    names = [
        column.name
        for column in profile.features
        if column.name != time and (column.kind == "category" or column.is_whole) and column.missing == 0
    ]
    names = [name for name in names if train[name].nunique() <= len(train) / 5]
    for count in range(3):
        for chosen in combinations(names[:12], count):
            if train.duplicated([time, *chosen]).mean() < 0.001:
                return chosen
    return ()


def _further(profile: Profile, seen: Seen) -> Mapping[str, Any]:
    """Tables beside train and test that say more about their values."""
    assert profile.train is not None
    known = set(profile.train.names) & set(profile.test.names if profile.test else profile.train.names)
    joins, spans, edges = [], [], None
    held = {profile.train.file, profile.test.file if profile.test else ""}
    for name, frame in seen.frames.items():
        if name in held or len(frame) < 2:
            continue
        table = seen.tables[name]
        on = tuple(column for column in frame.columns if column in known)
        ends = _span(table, frame)
        if ends is not None and len(frame.columns) > 2:
            spans.append(Spans(name, tuple(column for column in on if column not in ends), *ends))
        elif on and not frame.duplicated(list(on)).any() and len(frame.columns) > len(on):
            joins.append(Join(name, on))
        elif edges is None:
            edges = _edges(name, table, frame, profile, seen)
    return {"joins": tuple(joins), "spans": tuple(spans), "edges": edges}


def _span(table: Table, frame: pd.DataFrame) -> tuple[str, str] | None:
    """Two columns of dates of which the one never comes after the other."""
    import pandas as pd

    dates = [column.name for column in table.columns if column.kind == "date"]
    if len(dates) != 2:
        return None
    left, right = (pd.to_datetime(frame[name], errors="coerce") for name in dates)
    if (left <= right).all():
        return dates[0], dates[1]
    return (dates[1], dates[0]) if (right <= left).all() else None


def _edges(name: str, table: Table, frame: pd.DataFrame, profile: Profile, seen: Seen) -> tuple[str, str, str] | None:
    """Two columns that hold ids of train or test rows, if there are such."""
    assert profile.train is not None
    if profile.key is None or profile.key not in profile.train or profile.test is None:
        return None
    ids = {
        as_text(value) for file in (profile.train.file, profile.test.file) for value in seen.frames[file][profile.key]
    }
    ends = [
        column.name
        for column in table.columns
        if column.distinct > 2 and frame[column.name].head(500).map(as_text).isin(ids).mean() > 0.8
    ]
    return (name, ends[0], ends[1]) if len(ends) == 2 else None


def _shape(profile: Profile, sample: pd.DataFrame, seen: Seen, frame: pd.DataFrame | None) -> Shape:
    """Where the signal lies."""
    if profile.goal == "list" or profile.metric in LIST_METRICS:
        suited: Shape = "text" if profile.of_kind("text") else "pictures" if profile.pointers else "unknown"
        return "ranking" if _log(profile, seen) else suited
    suffixes = {files.suffix for files in profile.files if files.count >= 5}
    if profile.pointers is not None or (frame is None and suffixes):
        if _has_masks(profile, sample, frame):
            return "masks"
        kinds: list[tuple[Shape, frozenset[str]]] = [("pictures", PICTURES), ("audio", SOUNDS), ("arrays", ARRAYS)]
        for shape, kind in kinds:
            if suffixes & kind:
                return shape
    if frame is None or profile.goal in ("unknown", "text"):
        return "unknown"
    if profile.edges is not None:
        return "graph"
    if profile.time is not None and profile.goal == "regression" and profile.series:
        return "series"
    return "text" if profile.of_kind("text") else "tabular" if profile.features else "unknown"


def _has_masks(profile: Profile, sample: pd.DataFrame, frame: pd.DataFrame | None) -> bool:
    if profile.metric.startswith("rle_") or profile.metric in ("dice_hausdorff",):
        return True
    return (
        len(profile.targets) == 1
        and profile.targets[0] in sample
        and any(_RUNS.match(cell) for cell in sample[profile.targets[0]])
    )


def _log(profile: Profile, seen: Seen) -> bool:
    """Whether some table has many rows for each of the sample's ids and another column with the items."""
    return any(
        profile.ids[0] in frame and frame[profile.ids[0]].duplicated().mean() > 0.3 for frame in seen.frames.values()
    )
