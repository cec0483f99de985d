"""Prediction targets: the rows to predict, the table with the truth, and the kind of prediction."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from podium.tables.data_files import Paths, files_as_table
from podium.tables.describe_tables import MAX_ROWS, ReadTables, as_text
from podium.tables.parse_numbers import to_numbers
from podium.tables.profile import ColumnProfile, GoalKind, Profile

if TYPE_CHECKING:
    import pandas as pd

MAX_COLUMNS = 200
"""Maximum number of columns of a table searched for ids."""
MISSING_WORDS = frozenset(("None", "NA", "N/A", "n/a", "null", "NULL", "nan", "NaN"))
"""Words that pandas reads as missing cells."""
RUN_LENGTHS = r"^\d+ \d+( \d+ \d+)*$"
CLASS_METRICS = frozenset(
    [
        *("roc_auc", "accuracy", "error_rate", "log_loss", "f1", "f_beta", "matthews", "weighted_auc", "bias_auc"),
        *("weighted_log_loss", "probabilistic_f1", "lwlrap", "kl_divergence"),
    ]
)
LABEL_METRICS = frozenset(("label_micro_f1", "label_mean_f1"))
LIST_METRICS = LABEL_METRICS | {"map_at_k", "ndcg_at_k"}
MAX_LABELS, MIN_OF_LABEL = 50, 5
"""Maximum number of labels that are learnt one by one, and minimum number of rows of each."""


@dataclass(frozen=True)
class Truth:
    """Table with the truth, and its columns."""

    table: str
    labels: tuple[str, ...]
    is_wide: bool = False
    """True if the targets are the classes of one label."""
    separator: str | None = None
    """Separator between the names of targets in a label that lists several."""


def find_test(bare: Profile, sample: pd.DataFrame, read: ReadTables) -> tuple[str, str] | None:
    """Return the table with the rows to predict, and its column of ids."""
    if len(bare.ids) != 1 or bare.ids[0] not in sample:
        return None
    wanted = {_unpadded(one) for one in sample[bare.ids[0]].head(2000)}
    found: list[tuple[float, str, str]] = []
    for name, frame in read.frames.items():
        for described in read.tables[name].columns[:MAX_COLUMNS]:
            column = described.name
            if column in bare.targets or not _may_be_id(described):
                continue
            share = len(wanted & _ids(frame[column])) / max(1, len(wanted))
            bonus = 0.2 * (column.lower() == bare.ids[0].lower())
            bonus += 0.1 * ("test" in name.lower()) - 0.3 * ("train" in name.lower())
            bonus -= 0.2 * (frame[column].nunique() < len(frame))
            bonus -= 0.5 * any(target in frame and frame[target].notna().any() for target in bare.targets)
            if share > 0.95 or (share > 0.3 and len(frame) >= MAX_ROWS):
                found.append((share + bonus, name, column))
    if not found:
        return None
    _, name, column = max(found)
    return name, column


def _ids(cells: pd.Series) -> set[str]:
    """Return normalised ids, including words that may have been parsed as missing cells."""
    found = {_unpadded(as_text(value)) for value in cells.unique()}
    return found | MISSING_WORDS if cells.isna().any() else found


def _unpadded(text: str) -> str:
    """Return an id without leading zeros, which are lost if a table is parsed as numbers."""
    return text.lstrip("0") or "0" if text.isdigit() else text


def _may_be_id(column: ColumnProfile) -> bool:
    return column.kind in ("category", "text", "date") or (column.kind == "number" and column.is_whole)


def find_truth(bare: Profile, sample: pd.DataFrame, read: ReadTables, groups: Paths, test: str | None) -> Truth | None:
    """Return the table with the truth: one of the tables, or else a table of files whose paths give their class."""
    names = sorted(read.frames, key=lambda name: ("train" not in name.lower(), -len(read.frames[name])))
    frames = {name: read.frames[name] for name in names if name != test}
    for name, frame in frames.items():
        has_targets = all(target in frame for target in bare.targets)
        if has_targets and frame[list(bare.targets)].notna().any().all():
            return Truth(name, bare.targets)
    if len(bare.targets) > 2:
        known = set() if test is None else {one.name for one in read.tables[test].columns if one.kind != "empty"}
        unknown = {name: [str(column) for column in frame if column not in known] for name, frame in frames.items()}
        for name, frame in frames.items():
            if (column := _column_of_classes(frame, unknown[name], bare.targets)) is not None:
                return Truth(name, (column,), is_wide=True)
        for name, frame in frames.items():
            if (found := _column_of_lists(frame, unknown[name], bare.targets)) is not None:
                return Truth(name, (found[0],), separator=found[1])
    if test is not None and (len(bare.targets) == 1 or bare.metric == "pinball"):
        for name, frame in frames.items():
            shared = set(frame) & set(read.frames[test])
            label = _likeliest_label([str(column) for column in frame if column not in shared], bare.targets[0])
            if len(shared) >= 2 and label is not None:
                return Truth(name, (label,))
    return _truth_of_files(bare, sample, read, groups)


def _truth_of_files(bare: Profile, sample: pd.DataFrame, read: ReadTables, groups: Paths) -> Truth | None:
    """Return the truth as a table of files, if their folders or names give their classes."""
    if bare.metric not in CLASS_METRICS or not bare.targets or any(target not in sample for target in bare.targets):
        return None
    is_wide = len(bare.targets) > 2
    found = files_as_table(groups, sample[bare.ids[0]].head(50), bare.targets if is_wide else ())
    if found is None:
        return None
    name, frame, column = found
    read.add(name, frame)
    return Truth(name, (column,), is_wide)


def _column_of_classes(frame: pd.DataFrame, columns: Sequence[str], targets: Sequence[str]) -> str | None:
    """Return the column with the most names of targets (with or without a prefix) as values, and no other values.

    Args:
        columns: The columns that test lacks.
    """
    names = {_normalise(target) for target in targets}
    endings = {name.rpartition("_")[2] for name in names}
    found = []
    for column in columns:
        values = {_normalise(as_text(value)) for value in frame[column].dropna().unique()[:5000]}
        if len(values) > 1 and (values <= names or (values <= endings and len(endings) == len(names))):
            found.append((column, len(values)))
    return max(found, key=lambda one: one[1])[0] if found else None


def _column_of_lists(frame: pd.DataFrame, columns: Sequence[str], targets: Sequence[str]) -> tuple[str, str] | None:
    """Return the column that lists names of targets, and their separator, or None."""
    names = set(targets)
    for column in columns:
        values = [as_text(value) for value in frame[column].dropna().unique()[:2000]]
        for separator in (",", " ", ";", "|"):
            items = [item for value in values for item in value.split(separator)]
            if any(separator in value for value in values) and set(items) <= names:
                return column, separator
    return None


def _normalise(text: str) -> str:
    return text.strip().lower().replace(" ", "_")


def _likeliest_label(columns: Sequence[str], target: str) -> str | None:
    if len(columns) == 1:
        return columns[0]
    usual = [target.lower(), "target", "label", "class", "y", "outcome", "score", "category_id", "category"]
    return next((column for column in columns if column.lower() in usual), None)


def find_goal(
    profile: Profile, sample: pd.DataFrame, frame: pd.DataFrame, truth: Truth
) -> tuple[GoalKind, tuple[Any, ...]]:
    """Return the kind of prediction, and its classes."""
    import pandas as pd

    labels = frame[list(truth.labels)]
    if truth.separator is not None:
        return "multilabel", ()
    if truth.is_wide:
        return "multiclass", _classes_by_target(frame[truth.labels[0]], profile.targets)
    if len(truth.labels) > 1:
        if not all(pd.api.types.is_numeric_dtype(labels[name]) for name in labels):
            return "unknown", ()
        return ("multilabel" if labels.isin([0, 1]).all().all() else "regression"), ()
    known = frame[truth.labels[0]].dropna()
    if profile.metric in LABEL_METRICS and (names := _listed_labels(known)):
        return "multilabel", names
    if profile.metric in LIST_METRICS or _is_list(sample[profile.targets[0]]):
        return ("list" if profile.metric in LIST_METRICS else "text"), ()
    if re.match(RUN_LENGTHS, str(known.iloc[0])) and known.dtype == object:
        return "text", ()
    return _single_goal(profile, known)


def _listed_labels(known: pd.Series) -> tuple[str, ...]:
    """Return the labels listed in cells, separated by blanks, if there are few."""
    counts = known.astype(str).str.split().explode().value_counts()
    is_closed = 2 <= len(counts) <= MAX_LABELS and bool(counts.min() >= MIN_OF_LABEL)
    return tuple(sorted(counts.index)) if is_closed else ()


def _single_goal(profile: Profile, known: pd.Series) -> tuple[GoalKind, tuple[Any, ...]]:
    import pandas as pd

    distinct = int(known.nunique())
    is_number = pd.api.types.is_numeric_dtype(known) and not pd.api.types.is_bool_dtype(known)
    is_whole = is_number and bool((known == known.round()).all())
    if profile.metric == "quadratic_kappa" and is_whole:
        return "ordinal", ()
    by_class = profile.metric in CLASS_METRICS
    if is_number and not (by_class and (is_whole or distinct == 2)):
        return "regression", ()
    is_binary = distinct == 2 and (by_class or is_number)
    if is_binary or (2 < distinct <= max(20, len(known) // 2) and by_class):
        classes = tuple(_python_value(value) for value in sorted(known.unique()))
        return ("binary", _positive_last(profile, classes)) if is_binary else ("multiclass", classes)
    return "text", ()


def _positive_last(profile: Profile, classes: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the two classes, with the positive class of F1 last."""
    positive = as_text(profile.metric_options.get("positive", 1)) if profile.metric == "f1" else None
    return tuple(sorted(classes, key=lambda value: as_text(value) == positive))


def _classes_by_target(label: pd.Series, targets: Sequence[str]) -> tuple[Any, ...]:
    """Return the values of a label, in the order of the targets named after them."""
    values = {_normalise(as_text(value)): _python_value(value) for value in label.dropna().unique()}
    names = [_normalise(target) for target in targets]
    found = (values.get(name, values.get(name.rpartition("_")[2])) for name in names)
    return tuple(target if value is None else value for value, target in zip(found, targets, strict=True))


def _python_value(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _is_list(values: pd.Series) -> bool:
    """Return whether cells contain several items, separated by blanks."""
    some = values[values.str.strip() != ""].head(200)
    return len(some) > 0 and float(some.str.split().str.len().mean()) >= 3


def adds_up(frame: pd.DataFrame, targets: Sequence[str]) -> bool:
    """Return whether the targets of every row add up to one."""

    if len(targets) < 2 or any(target not in frame for target in targets):
        return False
    numbers = frame[list(targets)].head(500).apply(to_numbers)
    return bool(((numbers.sum(axis=1) - 1).abs() < 1e-3).all())
