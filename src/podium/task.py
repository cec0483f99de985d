"""Declarations of tasks, suites, references, metrics and submission formats.

This module has no behaviour of its own: `data` prepares tasks, `grading` grades submissions, and `catalog` contains the
tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeVar

from podium.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

SUBMISSION = "submission/submission.csv"
"""Path of a submitted table in the workspace."""

Edition = Literal["v1", "fixed"]
Medal = Literal["gold", "silver", "bronze"]

Prepare = Callable[[Path, Path, Path], None]
"""`prepare(raw, public, private)` fills the two empty folders `public` and `private` from the raw data."""
SomePrepare = TypeVar("SomePrepare", bound=Prepare)
Fetch = Callable[[Path], None]
"""`fetch(raw)` downloads data that is not from Kaggle into a folder, and keeps files that exist."""
Fabricate = Callable[[Path, "np.random.Generator"], None]
"""`fabricate(raw, rng)` fills an empty folder with fabricated raw data for a miniature."""
Score = Callable[["pd.DataFrame", "pd.DataFrame"], float]
"""`score(answers, submission)` returns the score of two tables with aligned rows."""
SomeScore = TypeVar("SomeScore", bound=Score)
ReadAnswers = Callable[[Path], "pd.DataFrame"]
"""`read(private)` returns a table with the id columns and all columns that scoring needs."""


@dataclass(frozen=True)
class Metric:
    """Score function of (truth, prediction) arrays, with the direction of improvement."""

    name: str
    """Identifier in code and JSON, such as `roc_auc`."""
    title: str
    """Title in reports, such as `ROC AUC`."""
    function: Callable[..., float]
    higher_is_better: bool
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, truth: Any, prediction: Any) -> float:
        """Return the score, or NaN if it is undefined, such as a correlation with a constant."""
        return float(self.function(truth, prediction, **self.options))

    def using(self, *, title: str | None = None, **options: Any) -> Metric:
        """Return a copy of the metric with options set, such as `f1.using(average="macro")`."""
        return replace(self, title=title or self.title, options={**self.options, **options})

    @property
    def takes_row_names(self) -> bool:
        """True if the function takes the names of rows, for its error messages."""
        return "names" in signature(self.function).parameters

    def is_better(self, score: float, other: float) -> bool:
        """Return whether the first score is strictly better than the second."""
        return score > other if self.higher_is_better else score < other


def metric(title: str, *, higher_is_better: bool) -> Callable[[Callable[..., float]], Metric]:
    """Return a decorator that turns a function of (truth, prediction, *, options) into a `Metric` of the same name."""

    def decorate(function: Callable[..., float]) -> Metric:
        return Metric(function.__name__, title, function, higher_is_better)

    return decorate


@dataclass(frozen=True)
class Number:
    """Rule for cells with a finite number within inclusive bounds."""

    low: float | None = None
    high: float | None = None
    blank: bool = False
    """True if cells may be empty (read as NaN), for rows or columns that are not scored."""


@dataclass(frozen=True)
class Integer:
    """Rule for cells with an integer within inclusive bounds; `3.0` is valid, `3.5` is not."""

    low: int | None = None
    high: int | None = None
    cut: bool = False
    """True to truncate other numbers instead of rejecting them, for compatibility with the original task."""


@dataclass(frozen=True)
class Boolean:
    """Rule for cells with True or False in upper or lower case, or 0 or 1."""


@dataclass(frozen=True)
class Text:
    """Rule for cells with text; numbers are compared as written."""

    blank: bool = True
    """True if cells may be empty."""
    choices: tuple[str, ...] | None = None
    """Allowed values, or None for any text."""
    empty: str = ""
    """Value of empty cells."""
    retyped: bool = False
    """True to read the column with the type that pandas infers: NA is empty, and 007 among numbers is 7."""


Values = Number | Integer | Boolean | Text
_SHORT: dict[type, Values] = {float: Number(), int: Integer(), bool: Boolean(), str: Text()}


@dataclass(frozen=True)
class Columns:
    """Submission format: a table with id columns and target columns."""

    id: str | tuple[str, ...]
    """Id column or columns; an empty tuple to compare rows by position."""
    target: str | tuple[str, ...]
    """Prediction column or columns."""
    values: Values | type | Mapping[str, Values]
    """Rule for target cells: one rule, `float`, `int`, `bool` or `str` for all columns, or a rule per column."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Alternative column names that the original task accepts, mapped to column names."""
    extra_columns: bool = True
    """True to ignore additional columns, False to reject them."""
    column_order: bool = False
    """True if the columns must be in the declared order, ids first."""
    extra_rows: bool = False
    """True to ignore rows with unknown ids, False to reject them."""
    missing_rows: bool = False
    """True if ids may be missing; only the submitted rows are scored then."""
    repeated_rows: bool = False
    """True if an id may have several rows; they are scored one after the other, in their order."""
    row_total: float | None = None
    """Required sum of the targets of each row, if they are a distribution."""
    row_tolerance: float = 1.1e-5
    """Maximum difference between the sum of a row and `row_total`."""
    sample: str = "sample_submission.csv"
    """File name of the sample submission in the public folder, which lists the ids."""
    answers: str = "test.csv"
    """File name of the answers in the private folder."""
    answers_target: str | tuple[str, ...] | None = None
    """Names of the target columns in the answers, if they differ from `target`."""
    max_bytes: int | None = None
    """Maximum size of a submission in bytes; by default a multiple of the size of the sample submission."""

    names: ClassVar[tuple[str, ...]] = (SUBMISSION,)
    """Files in the workspace that are graded."""
    tolerance: ClassVar[float] = 0.0
    """Maximum relative difference between two gradings of a submission: none for tables."""

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.id,) if isinstance(self.id, str) else self.id

    @property
    def targets(self) -> tuple[str, ...]:
        return (self.target,) if isinstance(self.target, str) else self.target

    def rule(self, column: str) -> Values:
        """Return the rule for the cells of a target column."""
        if isinstance(self.values, Mapping):
            return self.values[column]
        return _SHORT[self.values] if isinstance(self.values, type) else self.values


@dataclass(frozen=True)
class Files:
    """Submission format: files in the workspace, such as a program or weights, which Podium evaluates."""

    names: tuple[str, ...]
    """Required files, and folders with a trailing slash, relative to the workspace; "./" is the whole workspace."""
    max_bytes: int = 2 << 30
    """Maximum total size of the files in bytes."""
    tolerance: float = 1e-6
    """Maximum relative difference between two gradings of a submission, as measured times vary."""


class CompletedProgram(Protocol):
    """Result of a program that ran in a fresh sandbox."""

    seconds: float
    """Wall-clock time of the program, measured outside the sandbox."""
    exit_code: int
    stopped: str | None
    """Reason why Podium stopped the program, such as a time limit; None if it ended by itself."""
    output: str
    """End of its standard output and standard error, for messages."""

    def read(self, name: str, max_bytes: int = 1 << 30) -> bytes:
        """Return the content of a file that it wrote. Treat it as hostile input, and never unpickle it.

        Raises:
            InvalidSubmission: the file is missing, too large, a link or not a regular file.
        """
        ...


class Execute(Protocol):
    """Callable that runs programs for an evaluation, each in a new sandbox, all on the same cores."""

    def __call__(
        self, command: Sequence[str], *, files: Mapping[str, Path | bytes], time_s: float, data: bool = False
    ) -> CompletedProgram:
        """Run a program and return its result.

        Args:
            command: program and arguments, relative to the working folder; `python` is the agent's interpreter.
            files: files of the working folder by relative name: a file or folder of the host to copy, or its content.
            time_s: time limit in seconds.
            data: True to provide the public data in `data/`.
        """
        ...


@dataclass(frozen=True)
class Evaluation:
    """Inputs of an evaluation of submitted files."""

    submission: Path
    """Folder with the submitted files. They are untrusted: run them only with `execute`."""
    starter: Path | None
    """Folder with the original starter code, or None."""
    public: Path
    private: Path
    miniature: bool
    execute: Execute


@dataclass(frozen=True)
class Leaderboard:
    """Scores of the people, or of a forged task's simulated entrants, that submissions are ranked against.

    Give either all `scores`, best first, or the medal thresholds with evenly spaced quantiles.
    """

    lower_is_better: bool
    scores: tuple[float, ...] | None = None
    teams: int | None = None
    gold: float | None = None
    silver: float | None = None
    bronze: float | None = None
    median: float | None = None
    quantiles: tuple[float, ...] | None = None
    """Scores at evenly spaced ranks, from best to worst."""
    measured: bool = False
    """True if the scores are those of simulated entrants."""


@dataclass(frozen=True)
class Baseline:
    """Score of the starter code of a research task, which submissions should improve on."""

    score: float
    """Mean over all runs of the starter code."""
    success_at: float = 10.0
    """Minimum improvement in percent for a success."""
    sd: float | None = None
    """Standard deviation over its runs, or None for a single run."""
    runs: int = 1
    by_definition: bool = False
    """True if the score is fixed by definition, such as a speed-up over the starter code, which is 1."""


Reference = Leaderboard | Baseline


@dataclass(frozen=True)
class Measured:
    """Score measured several times, alternating with measurements of the starter code."""

    score: float
    interval: tuple[float, float] | None = None
    """95 % confidence interval, or None if there are too few measurements."""
    baseline: Baseline | None = None
    """Score of the starter code in the same measurement, or None if it is 1 by definition."""


Evaluate = Callable[[Evaluation], float | Measured]
"""`evaluate(evaluation)` returns the score of submitted files, or raises `InvalidSubmission` with a hint."""


@dataclass(frozen=True)
class Starter:
    """Starter code of a research task, copied into the workspace before the agent starts."""

    folder: Path
    """Folder with the files, beside the task file."""
    script: str
    """Script to improve, relative to the folder."""
    read_only: tuple[str, ...] = ()
    """Patterns of files that the agent must not change."""


@dataclass
class EditionParts:
    """Parts of a task that can differ between editions, such as data preparation and scoring."""

    reason: str = ""
    """Reason for this edition, unless it is the first."""
    brief: str = ""
    """Task description for the agent, if it differs from the first edition."""
    prepare: Prepare | None = None
    score: Score | None = None
    answers: ReadAnswers | None = None
    evaluate: Evaluate | None = None
    submission: Columns | Files | None = None
    metric: Metric | None = None
    reference: Reference | None = None
    known_leaks: str = ""
    """Information about the answers that ids or row order leak in the data as published."""


@dataclass
class Task:
    """Task: data, goal, metric and reference. Facts are fields, and custom steps are decorated functions."""

    id: str
    title: str
    kind: str
    metric: Metric
    submission: Columns | Files
    brief: str = ""
    """Task description for the agent, in Markdown."""
    reference: Reference | None = None
    starter: Starter | None = None
    edition: Edition = "v1"
    """Default edition."""
    time_s: float | None = None
    """Default working time of a run in seconds."""
    steps: int | None = None
    generated: bool = False
    """True if the data is generated from a seed and needs no raw data."""
    fabricator: Fabricate | None = None
    fetcher: Fetch | None = None
    editions: dict[Edition, EditionParts] = field(default_factory=lambda: {"v1": EditionParts()})

    def prepare(self, function: SomePrepare) -> SomePrepare:
        """Register a function that prepares public and private files from raw data (decorator)."""
        self._first.prepare = function
        return function

    def score(self, function: SomeScore) -> SomeScore:
        """Register a function that scores aligned tables, if applying the metric is not enough (decorator)."""
        self._first.score = function
        return function

    def answers(self, function: ReadAnswers) -> ReadAnswers:
        """Register a function that reads answers, if they are not a table with one row per id (decorator)."""
        self._first.answers = function
        return function

    def evaluate(self, function: Evaluate) -> Evaluate:
        """Register a function that scores a submission of files (decorator)."""
        self._first.evaluate = function
        return function

    def fetch(self, function: Fetch) -> Fetch:
        """Register a function that downloads raw data, if it is not on Kaggle under the id of the task (decorator)."""
        self.fetcher = function
        return function

    def fabricate(self, function: Fabricate) -> Fabricate:
        """Register a function that fabricates raw data for the miniature (decorator)."""
        self.fabricator = function
        return function

    def fixed(self, reason: str, **changes: Any) -> EditionParts:
        """Add the edition `fixed`: a copy of the first edition with some parts replaced."""
        self.editions["fixed"] = replace(self._first, reason=reason, **changes)
        return self.editions["fixed"]

    @property
    def _first(self) -> EditionParts:
        return next(iter(self.editions.values()))

    @property
    def is_table(self) -> bool:
        """True if the submission is a table, False if it is files."""
        return isinstance(self.submission, Columns)

    @property
    def form(self) -> Columns:
        """Submission format of a task with a table.

        Raises:
            UsageError: the submission is not a table.
        """
        if isinstance(self.submission, Files):
            raise UsageError(f"The submission of {self.id} is files ({', '.join(self.submission.names)}), not a table.")
        return self.submission

    @property
    def parts(self) -> EditionParts:
        """Parts of the current edition."""
        return self.editions[self.edition]

    def with_brief(self, brief: str, note: str = "") -> Task:
        """Return a copy of the task with a description; `note` is appended in the edition `fixed`."""
        editions = dict(self.editions)
        if note:
            editions["fixed"] = replace(editions["fixed"], brief=f"{brief}\n{note}")
        return replace(self, brief=brief, editions=editions)

    def in_edition(self, edition: Edition | None = None) -> Task:
        """Return a copy of the task with the parts of an edition, by default those of `edition`.

        Raises:
            UsageError: the task has no such edition.
        """
        edition = edition or self.edition
        if edition not in self.editions:
            raise UsageError(f"{self.id} has no edition '{edition}'. It has: {', '.join(self.editions)}")
        parts = self.editions[edition]
        return replace(
            self,
            brief=parts.brief or self.brief,
            metric=parts.metric or self.metric,
            submission=parts.submission or self.submission,
            reference=parts.reference or self.reference,
            edition=edition,
            editions={edition: parts},
        )


def competition(
    id: str,  # noqa: A002
    *,
    title: str,
    kind: str,
    metric: Metric,
    submission: Columns,
    leaderboard: Leaderboard | None = None,
    known_leaks: str = "",
    time_s: float = 24 * 3600.0,
) -> Task:
    """Return a competition. The catalogue adds its brief and, for Kaggle competitions, the human leaderboard.

    Args:
        leaderboard: leaderboard to rank scores against; thresholds are sufficient.
        known_leaks: information about the answers that ids or row order leak.
        time_s: default working time of a run in seconds; that of MLE-bench unless given.
    """
    return Task(
        id=id,
        title=title,
        kind=kind,
        metric=metric,
        submission=submission,
        reference=leaderboard,
        editions={"v1": EditionParts(known_leaks=known_leaks)},
        time_s=time_s,
    )


def research_task(
    id: str,  # noqa: A002
    *,
    title: str,
    kind: str,
    metric: Metric,
    submission: Columns | Files,
    starter: Starter,
    reference: Baseline | None = None,
    first: Edition = "v1",
    known_leaks: str = "",
) -> Task:
    """Return a research task: starter code to improve, the budget of MLAgentBench, and `fixed` as the default edition.

    Args:
        first: edition that is declared first; "fixed" if the original has no score to reproduce.
        known_leaks: information about the answers that ids or row order leak.
    """
    return Task(
        id=id,
        title=title,
        kind=kind,
        metric=metric,
        submission=submission,
        starter=starter,
        reference=reference,
        edition="fixed",
        editions={first: EditionParts(known_leaks=known_leaks)},
        time_s=5 * 3600.0,
        steps=50,
    )


@dataclass(frozen=True)
class Suite:
    """Named list of tasks."""

    name: str
    title: str
    tasks: tuple[str, ...]
