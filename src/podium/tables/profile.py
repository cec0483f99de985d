"""Profile of a task: its tables, files, ids, targets and goal, inferred from the data.

`podium.tables.profile_task` creates profiles; recipes only read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

FeatureKind = Literal["number", "category", "date", "text", "empty"]
"""Kind of a column. A `category` repeats its values, a `text` consists of words."""

GoalKind = Literal["binary", "multiclass", "multilabel", "ordinal", "regression", "list", "text", "unknown"]
"""Kind of prediction. `multilabel`: several columns of 0 and 1. `ordinal`: integers that are grades."""

LEARNABLE: frozenset[GoalKind] = frozenset({"binary", "multiclass", "multilabel", "ordinal", "regression"})
"""Goals that models can learn: classes and numbers."""

Modality = Literal["tabular", "text", "series", "ranking", "images", "masks", "audio", "graph", "arrays", "unknown"]
"""Kind of the main input, which decides the family of recipes."""


@dataclass(frozen=True)
class ColumnProfile:
    """Column of a table."""

    name: str
    kind: FeatureKind
    distinct: int
    missing: float = 0.0
    """Share of empty cells."""
    common: float = 0.0
    """Share of cells with the most common value, or of empty cells if that is larger."""
    length: float = 0.0
    """Mean number of characters of text."""
    is_whole: bool = False
    """True if all values are integers."""
    is_code: bool = False
    """True if its numbers look like names, such as account numbers."""
    minimum: float | None = None
    median: float | None = None
    maximum: float | None = None

    @property
    def is_group(self) -> bool:
        """True if it groups rows: categories, codes, and integers with few values."""
        is_few = self.is_whole and 2 < self.distinct <= 30
        return self.kind == "category" or (self.kind == "number" and (self.is_code or is_few))


@dataclass(frozen=True)
class TableProfile:
    """File with rows and columns."""

    file: str
    """Path relative to the public folder."""
    rows: int
    """Number of rows read; there may be more if `is_truncated`."""
    columns: tuple[ColumnProfile, ...]
    is_truncated: bool = False

    def __contains__(self, name: str) -> bool:
        return any(column.name == name for column in self.columns)

    def __getitem__(self, name: str) -> ColumnProfile:
        return next(column for column in self.columns if column.name == name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


@dataclass(frozen=True)
class FileGroup:
    """Files of one kind in a folder or archive."""

    folder: str
    """Path relative to the public folder; an archive such as `train.zip` counts as a folder."""
    suffix: str
    """Suffix in lower case, with its dot."""
    count: int
    examples: tuple[str, ...] = ()
    """Some paths, relative to the folder."""


@dataclass(frozen=True)
class FilePatterns:
    """Patterns of the files of rows: the value of a column is inserted into a pattern such as `train/{}.png`."""

    column: str
    train: str
    test: str
    """Pattern for test rows, whose values are in the column of the same name or in the sample submission's id."""


@dataclass(frozen=True)
class Join:
    """Further table with one row per value of some columns that train and test also have."""

    file: str
    on: tuple[str, ...]


@dataclass(frozen=True)
class ForeignKey:
    """Column of train and test whose values occur in a column of a further table."""

    column: str
    file: str
    key: str


@dataclass(frozen=True)
class Spans:
    """Further table whose rows describe a span of days, possibly for some values of a column."""

    file: str
    on: tuple[str, ...]
    first: str
    last: str


@dataclass(frozen=True)
class Profile:
    """Profile of a task: everything that recipes know about it."""

    brief: str
    metric: str
    """Name of the metric in Podium, such as `roc_auc`."""
    metric_title: str
    metric_options: Mapping[str, Any]
    higher_is_better: bool
    sample: str
    """Path of the sample submission, relative to the public folder."""
    ids: tuple[str, ...]
    targets: tuple[str, ...]
    """Columns of the sample that are to be predicted."""
    is_sample_informative: bool = False
    """True if the sample's targets are words that differ from row to row."""
    modality: Modality = "unknown"
    goal: GoalKind = "unknown"
    tables: tuple[TableProfile, ...] = ()
    files: tuple[FileGroup, ...] = ()
    train: TableProfile | None = None
    test: TableProfile | None = None
    """Test table, or None if test rows have only ids."""
    key: str | None = None
    """Column of the test table with the sample's ids."""
    labels: tuple[str, ...] = ()
    """Columns of train with the truth, in the order of the targets unless the targets are classes."""
    classes: tuple[Any, ...] = ()
    """Values of the label (or the items it lists), in the order of the targets if those are classes."""
    is_wide: bool = False
    """True if the targets are probabilities of the classes of one label."""
    separator: str | None = None
    """Separator between the names of targets or classes in a label that lists several."""
    is_distribution: bool = False
    """True if the targets of a row must add up to one."""
    features: tuple[ColumnProfile, ...] = ()
    """Columns shared by train and test, without ids and columns that the brief forbids."""
    time: str | None = None
    """Column by which test follows train: dates, or numbers such as years."""
    group: str | None = None
    """Column whose values are in train or in test, but not in both."""
    is_series: bool = False
    """True if there is one row for each time, or for each time and series."""
    series: tuple[str, ...] = ()
    """Columns that distinguish series; empty if there is a single series."""
    sequence: tuple[str, str] | None = None
    """Column whose values name sequences of rows, and column that counts the steps of each sequence."""
    joins: tuple[Join, ...] = ()
    spans: tuple[Spans, ...] = ()
    parents: tuple[ForeignKey, ...] = ()
    """Keys of tables with one row per value of their key."""
    records: tuple[ForeignKey, ...] = ()
    """Keys of tables with several rows per value of their key."""
    file_patterns: FilePatterns | None = None
    edges: tuple[str, str, str] | None = None
    """Table of edges between rows: its file and its two columns of ids."""
    size_bytes: int = 0
    """Total size of all public files."""
    packages: frozenset[str] = frozenset()
    """Names of packages that scripts may import in addition to those of the kit."""
    warnings: tuple[str, ...] = ()
    """Sentences for plans about data that could not be analysed or is not used."""

    @property
    def has_several_targets(self) -> bool:
        """True if several columns are learnt, one after the other."""
        return self.goal == "multilabel" or (self.goal == "regression" and len(self.labels) > 1)

    @property
    def has_constant_target(self) -> bool:
        """True if all train rows have the same target, so that there is nothing to learn."""
        train = self.train
        if train is None or train.is_truncated or not self.labels:
            return False
        return all(train[label].distinct == 1 for label in self.labels)

    @property
    def is_listed(self) -> bool:
        """True if one target lists several classes."""
        return self.separator is not None and len(self.targets) == 1

    @property
    def levels(self) -> tuple[float, ...]:
        """Levels of the predicted quantiles of one label, in the order of the targets; else empty."""
        if self.metric != "pinball" or len(self.labels) != 1:
            return ()
        found = self.metric_options.get("quantiles") or (self.metric_options.get("quantile", 0.5),)
        return tuple(found) if len(found) == len(self.targets) else ()

    @property
    def is_survival(self) -> bool:
        """True if risks are predicted from survival times; negative times are censored."""
        return self.metric == "concordance" and self.goal == "regression"

    def of_kind(self, *kinds: FeatureKind) -> list[str]:
        """Return the names of the features of some kinds."""
        return [column.name for column in self.features if column.kind in kinds]

    def group_names(self) -> list[str]:
        """Return the names of the features that group rows."""
        return [column.name for column in self.features if column.is_group]
