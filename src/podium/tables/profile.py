"""What a task looks like: its tables, files, ids, targets and goal, as far as the data tells.

`podium.tables.profile_task` makes profiles; recipes only read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

FeatureKind = Literal["number", "category", "date", "text", "empty"]
"""What a column holds. A `category` repeats its values, a `text` consists of words."""

GoalKind = Literal["binary", "multiclass", "multilabel", "ordinal", "regression", "list", "text", "unknown"]
"""What is to be predicted. `multilabel`: several columns of 0 and 1. `ordinal`: whole numbers that are grades."""

LEARNABLE: frozenset[GoalKind] = frozenset({"binary", "multiclass", "multilabel", "ordinal", "regression"})
"""The goals that models learn: classes and numbers."""

Modality = Literal["tabular", "text", "series", "ranking", "images", "masks", "audio", "graph", "arrays", "unknown"]
"""What the main input is, which decides the family of recipes."""


@dataclass(frozen=True)
class ColumnProfile:
    """A column of a table."""

    name: str
    kind: FeatureKind
    distinct: int
    missing: float = 0.0
    """The share of empty cells."""
    common: float = 0.0
    """The share of cells with the most common value, or that are empty if that is more."""
    length: float = 0.0
    """Mean number of characters, where it holds text."""
    is_whole: bool = False
    """Whether it holds whole numbers only."""
    is_code: bool = False
    """Whether its numbers look like names, such as account numbers."""
    minimum: float | None = None
    median: float | None = None
    maximum: float | None = None

    @property
    def is_group(self) -> bool:
        """Whether it puts rows into groups: categories, and numbers that are codes or few."""
        is_few = self.is_whole and 2 < self.distinct <= 30
        return self.kind == "category" or (self.kind == "number" and (self.is_code or is_few))


@dataclass(frozen=True)
class TableProfile:
    """A file with rows and columns."""

    file: str
    """Its path, relative to the public folder."""
    rows: int
    """How many were read; there may be more if `is_truncated`."""
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
    """Relative to the public folder; an archive is a folder too, such as `train.zip`."""
    suffix: str
    """In lower case, with its dot."""
    count: int
    examples: tuple[str, ...] = ()
    """Some of their paths, relative to the folder."""


@dataclass(frozen=True)
class FilePatterns:
    """The files that belong to rows: the value of a column, put into a pattern such as `train/{}.png`."""

    column: str
    train: str
    test: str
    """The test rows' values are in the column of the same name, or in the sample submission's id."""


@dataclass(frozen=True)
class Join:
    """A further table with one row per value of some columns that train and test have too."""

    file: str
    on: tuple[str, ...]


@dataclass(frozen=True)
class ForeignKey:
    """A column of train and test whose values are found in a column of a further table."""

    column: str
    file: str
    key: str


@dataclass(frozen=True)
class Spans:
    """A further table whose rows describe a span of days, maybe for some values of a column."""

    file: str
    on: tuple[str, ...]
    first: str
    last: str


@dataclass(frozen=True)
class Profile:
    """All that recipes know about a task."""

    brief: str
    metric: str
    """Its name in Podium, such as `roc_auc`."""
    metric_title: str
    metric_options: Mapping[str, Any]
    higher_is_better: bool
    sample: str
    """The sample submission, relative to the public folder."""
    ids: tuple[str, ...]
    targets: tuple[str, ...]
    """The sample's columns to be filled in."""
    is_sample_informative: bool = False
    """Whether the sample's targets are words that differ from row to row."""
    modality: Modality = "unknown"
    goal: GoalKind = "unknown"
    tables: tuple[TableProfile, ...] = ()
    files: tuple[FileGroup, ...] = ()
    train: TableProfile | None = None
    test: TableProfile | None = None
    """None where the test rows are known by their ids alone."""
    key: str | None = None
    """The test table's column that has the sample's ids."""
    labels: tuple[str, ...] = ()
    """The train columns with the truth, in the order of the targets unless these are classes."""
    classes: tuple[Any, ...] = ()
    """The values of the label, in the order of the targets where those are classes; those it lists, where it does."""
    is_wide: bool = False
    """Whether the targets are the classes of one label, a probability for each."""
    separator: str | None = None
    """What separates the names of targets, or of classes, in the label, where that lists those that apply."""
    is_distribution: bool = False
    """Whether the targets of a row must add up to one."""
    features: tuple[ColumnProfile, ...] = ()
    """Columns that train and test share, other than ids and those that the brief forbids."""
    time: str | None = None
    """The column by which test follows train: dates, or numbers such as years."""
    group: str | None = None
    """The column whose values are in train or in test, but not in both."""
    is_series: bool = False
    """Whether there is one row for each time, or for each time and series."""
    series: tuple[str, ...] = ()
    """Columns that distinguish series; none where there is a single one."""
    sequence: tuple[str, str] | None = None
    """The column whose values name sequences of rows, and the one that counts the steps of each."""
    joins: tuple[Join, ...] = ()
    spans: tuple[Spans, ...] = ()
    parents: tuple[ForeignKey, ...] = ()
    """Keys of tables that have one row for each value of their key."""
    records: tuple[ForeignKey, ...] = ()
    """Keys of tables that have several."""
    file_patterns: FilePatterns | None = None
    edges: tuple[str, str, str] | None = None
    """A table of edges between rows: its file and its two columns that hold ids."""
    size_bytes: int = 0
    """Of all public files together."""
    packages: frozenset[str] = frozenset()
    """Names of packages that scripts may import besides those of the kit."""
    warnings: tuple[str, ...] = ()
    """What was not understood, and what is left alone, as sentences for plans."""

    @property
    def has_several_targets(self) -> bool:
        """Whether several columns are learnt, one after the other."""
        return self.goal == "multilabel" or (self.goal == "regression" and len(self.labels) > 1)

    @property
    def has_constant_target(self) -> bool:
        """Whether all train rows have the same target, so that there is nothing to learn."""
        train = self.train
        if train is None or train.is_truncated or not self.labels:
            return False
        return all(train[label].distinct == 1 for label in self.labels)

    @property
    def is_listed(self) -> bool:
        """Whether one target lists the classes that apply."""
        return self.separator is not None and len(self.targets) == 1

    @property
    def levels(self) -> tuple[float, ...]:
        """Where quantiles of one label are predicted, which ones, in the order of the targets."""
        if self.metric != "pinball" or len(self.labels) != 1:
            return ()
        found = self.metric_options.get("quantiles") or (self.metric_options.get("quantile", 0.5),)
        return tuple(found) if len(found) == len(self.targets) else ()

    @property
    def is_survival(self) -> bool:
        """Whether risks are predicted from times, of which negative ones say that nothing had happened until then."""
        return self.metric == "concordance" and self.goal == "regression"

    def of_kind(self, *kinds: FeatureKind) -> list[str]:
        """The names of the features of some kinds."""
        return [column.name for column in self.features if column.kind in kinds]

    def group_names(self) -> list[str]:
        """The names of the features that put rows into groups."""
        return [column.name for column in self.features if column.is_group]
