"""The words everything shares: tasks, suites, references, metrics and submission forms.

Only declarations live here. What is done with them lies further down: `data` prepares, `grading` grades,
`catalog` holds the tasks themselves.
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
"""Where a table lies in the workspace."""

Edition = Literal["v1", "fixed"]
Medal = Literal["gold", "silver", "bronze"]

Prepare = Callable[[Path, Path, Path], None]
"""`prepare(raw, public, private)` fills two empty folders from the raw one."""
SomePrepare = TypeVar("SomePrepare", bound=Prepare)
Fetch = Callable[[Path], None]
"""`fetch(raw)` downloads into a folder, where data does not come from Kaggle; what is there already is kept."""
Fabricate = Callable[[Path, "np.random.Generator"], None]
"""`fabricate(raw, rng)` fills an empty folder with a miniature of the raw data."""
Score = Callable[["pd.DataFrame", "pd.DataFrame"], float]
"""`score(answers, submission)` over two tables whose rows already correspond."""
SomeScore = TypeVar("SomeScore", bound=Score)
ReadAnswers = Callable[[Path], "pd.DataFrame"]
"""`read(private)` gives a table with the id columns and whatever scoring needs."""


@dataclass(frozen=True)
class Metric:
    """A score function over (truth, prediction) arrays that knows which direction is better."""

    name: str
    """As written in code and JSON, such as `roc_auc`."""
    title: str
    """As written for people, such as `ROC AUC`."""
    function: Callable[..., float]
    higher_is_better: bool
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, truth: Any, prediction: Any) -> float:
        """The score; NaN where the formula is undefined, such as a correlation with a constant."""
        return float(self.function(truth, prediction, **self.options))

    def using(self, *, title: str | None = None, **options: Any) -> Metric:
        """The same metric with some of its options fixed: `f1.using(average="macro")`."""
        return replace(self, title=title or self.title, options={**self.options, **options})

    @property
    def takes_names(self) -> bool:
        """Whether the function wants to know what rows are called, for its messages."""
        return "names" in signature(self.function).parameters

    def is_better(self, score: float, other: float) -> bool:
        """Whether the first score is strictly better than the second."""
        return score > other if self.higher_is_better else score < other


def metric(title: str, *, higher_is_better: bool) -> Callable[[Callable[..., float]], Metric]:
    """Turns a function of (truth, prediction, *, options) into a `Metric` of the same name."""

    def decorate(function: Callable[..., float]) -> Metric:
        return Metric(function.__name__, title, function, higher_is_better)

    return decorate


@dataclass(frozen=True)
class Number:
    """A finite number within bounds, both included."""

    low: float | None = None
    high: float | None = None
    blank: bool = False
    """Whether a cell may be empty, which reads as NaN: for rows or columns that are not scored."""


@dataclass(frozen=True)
class Integer:
    """A whole number; `3.0` is one, `3.5` is not."""

    low: int | None = None
    high: int | None = None
    cut: bool = False
    """Whether what follows the decimal point is cut off, not refused: for tasks that have always taken any number."""


@dataclass(frozen=True)
class Boolean:
    """True or false, in any case, or 0 and 1."""


@dataclass(frozen=True)
class Text:
    """Any text; numbers are taken as they are written."""

    blank: bool = True
    """Whether a cell may be empty."""
    choices: tuple[str, ...] | None = None
    """The only texts allowed, where the task has a closed list."""
    empty: str = ""
    """What an empty cell is compared as."""
    retyped: bool = False
    """Whether a column reads as pandas guesses it: NA and its like are blank, 007 in a column of numbers is 7."""


Values = Number | Integer | Boolean | Text
_SHORT: dict[type, Values] = {float: Number(), int: Integer(), bool: Boolean(), str: Text()}


@dataclass(frozen=True)
class Columns:
    """The form of a submission: a table with id columns and target columns."""

    id: str | tuple[str, ...]
    """The column, or columns, that say which row is meant; none where rows are compared by their position."""
    target: str | tuple[str, ...]
    """The column, or columns, that hold the prediction."""
    values: Values | type | Mapping[str, Values]
    """What target cells may hold: one rule for all, `float`, `int`, `bool`, `str`, or a rule per column."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other names that a column may go by, where the task has always taken them."""
    extra_columns: bool = True
    """Whether further columns are ignored (or refused)."""
    column_order: bool = False
    """Whether the columns must stand in their order, ids first."""
    extra_rows: bool = False
    """Whether the submission may hold ids that are not graded; they are left out."""
    missing_rows: bool = False
    """Whether ids may be missing; scoring then gets the rows that are there."""
    repeated_rows: bool = False
    """Whether an id may have several rows; scoring then gets them one after the other, in their order."""
    row_total: float | None = None
    """What the targets of each row must add up to, where they are a distribution."""
    row_tolerance: float = 1.1e-5
    """How far a row may be off that total."""
    sample: str = "sample_submission.csv"
    """The sample submission in the public folder; it lists the ids."""
    answers: str = "test.csv"
    """The answers in the private folder."""
    answers_target: str | tuple[str, ...] | None = None
    """The answers' names for the target columns, where they differ."""
    max_bytes: int | None = None
    """Largest submission read, where the default (a multiple of the sample's size) does not suit."""

    names: ClassVar[tuple[str, ...]] = (SUBMISSION,)
    """What is graded in the workspace."""
    tolerance: ClassVar[float] = 0.0
    """Grading a table again gives the same score."""

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.id,) if isinstance(self.id, str) else self.id

    @property
    def targets(self) -> tuple[str, ...]:
        return (self.target,) if isinstance(self.target, str) else self.target

    def rule(self, column: str) -> Values:
        """What the cells of a target column may hold."""
        if isinstance(self.values, Mapping):
            return self.values[column]
        return _SHORT[self.values] if isinstance(self.values, type) else self.values


@dataclass(frozen=True)
class Files:
    """The form of a submission that is not a table: a program or weights in the workspace, which Podium evaluates."""

    names: tuple[str, ...]
    """Files, and folders with a slash at the end, relative to the workspace; "./" is all of it. Each must be there."""
    max_bytes: int = 2 << 30
    """Largest submission that is evaluated, all files together."""
    tolerance: float = 1e-6
    """How far, as a share of the score, a second evaluation may be off: times never repeat exactly."""


class EndedProgram(Protocol):
    """What came of a program in a fresh sandbox."""

    seconds: float
    """By Podium's clock, from outside, from the start of the program to its end."""
    exit_code: int
    stopped: str | None
    """Why Podium ended it, such as a time limit; None if it ended by itself."""
    output: str
    """The end of what it printed, errors included, for messages."""

    def read(self, name: str, max_bytes: int = 1 << 30) -> bytes:
        """A file that it left. Its content is the agent's word: parse it as hostile input, never unpickle it.

        Raises:
            InvalidSubmission: there is none, or it is a link, not a plain file, or too large.
        """
        ...


class Execute(Protocol):
    """Runs programs for an evaluation, each call in a fresh sandbox that is gone afterwards, all on the same cores."""

    def __call__(
        self, command: Sequence[str], *, files: Mapping[str, Path | bytes], time_s: float, data: bool = False
    ) -> EndedProgram:
        """
        Args:
            command: the program, seen from its working folder; `python` is the agent's own.
            files: what lies in that folder, by relative name: a file or folder of the host to copy, or its content.
            time_s: after which it is stopped.
            data: whether the public data is at `data/` there.
        """
        ...


@dataclass(frozen=True)
class Evaluation:
    """What an evaluation has at hand."""

    submission: Path
    """A folder with the submitted files under their names. Agents wrote them: execute them only with `execute`."""
    starter: Path | None
    """The starter files as they were handed out."""
    public: Path
    private: Path
    miniature: bool
    execute: Execute


@dataclass(frozen=True)
class Leaderboard:
    """The scores of the people (or of a forged task's field) a submission is ranked against.

    Either `scores` holds every entry, best first, or thresholds and evenly spaced quantiles stand for them.
    """

    lower_is_better: bool
    scores: tuple[float, ...] | None = None
    teams: int | None = None
    gold: float | None = None
    silver: float | None = None
    bronze: float | None = None
    median: float | None = None
    quantiles: tuple[float, ...] | None = None
    """Scores at equal steps of rank, from the best to the worst."""
    measured: bool = False
    """Whether the scores are those of a field of simulated entrants, not of people."""


@dataclass(frozen=True)
class Baseline:
    """The score of the starter code, which a research task asks to improve upon."""

    score: float
    """The mean over its runs."""
    success_at: float = 10.0
    """Improvement in percent that counts as success."""
    sd: float | None = None
    """The standard deviation over its runs, where it was measured more than once."""
    runs: int = 1
    by_definition: bool = False
    """Whether no measurement can change it: a speed-up over the starter is 1 for the starter itself."""


Reference = Leaderboard | Baseline


@dataclass(frozen=True)
class Measured:
    """A score that was measured several times, in turns with the starter's."""

    score: float
    interval: tuple[float, float] | None = None
    """Where the score lies, 95 times of 100; None where it was measured too few times to say."""
    baseline: Baseline | None = None
    """What the starter scored at the same time, unless that is 1 by definition."""


Evaluate = Callable[[Evaluation], float | Measured]
"""`evaluate(evaluation)` gives the score of submitted files, or raises `InvalidSubmission` with what to fix."""


@dataclass(frozen=True)
class Starter:
    """What a research task puts into the workspace before the agent begins."""

    folder: Path
    """The files, as they lie beside the task file."""
    script: str
    """The one to improve, relative to the folder."""
    read_only: tuple[str, ...] = ()
    """Patterns of files in the folder that the agent may not change."""


@dataclass
class EditionParts:
    """What editions of a task differ in: how data is made and submissions are scored."""

    reason: str = ""
    """Why it exists, where it is not the first."""
    brief: str = ""
    """What the agent is told, where it differs from the first edition."""
    prepare: Prepare | None = None
    score: Score | None = None
    answers: ReadAnswers | None = None
    evaluate: Evaluate | None = None
    submission: Columns | Files | None = None
    metric: Metric | None = None
    reference: Reference | None = None
    known_leaks: str = ""
    """What ids or the order of rows tell about the answers, where that comes from the data as it was published."""


@dataclass
class Task:
    """Data, a goal, a metric and a reference. Facts are declared, the unusual is a function."""

    id: str
    title: str
    kind: str
    metric: Metric
    submission: Columns | Files
    brief: str = ""
    """What the agent is told, in Markdown."""
    reference: Reference | None = None
    starter: Starter | None = None
    edition: Edition = "v1"
    """The one that is meant where none is named."""
    time_s: float | None = None
    """Working time of a run where no budget is given."""
    steps: int | None = None
    generated: bool = False
    """Whether the data is made from a seed and needs no raw folder."""
    fabricator: Fabricate | None = None
    fetcher: Fetch | None = None
    editions: dict[Edition, EditionParts] = field(default_factory=lambda: {"v1": EditionParts()})

    def prepare(self, function: SomePrepare) -> SomePrepare:
        """Decorator: how public and private files are made from raw ones."""
        self._first.prepare = function
        return function

    def score(self, function: SomeScore) -> SomeScore:
        """Decorator: scores aligned tables where applying the metric to the target columns is not enough."""
        self._first.score = function
        return function

    def answers(self, function: ReadAnswers) -> ReadAnswers:
        """Decorator: reads answers that are not a plain table with a row per id."""
        self._first.answers = function
        return function

    def evaluate(self, function: Evaluate) -> Evaluate:
        """Decorator: the score of a submission that is files, not a table."""
        self._first.evaluate = function
        return function

    def fetch(self, function: Fetch) -> Fetch:
        """Decorator: how raw data is downloaded, where it does not come from Kaggle under the task's id."""
        self.fetcher = function
        return function

    def fabricate(self, function: Fabricate) -> Fabricate:
        """Decorator: how a miniature of the raw data is made."""
        self.fabricator = function
        return function

    def fixed(self, reason: str, **changes: Any) -> EditionParts:
        """Declares the `fixed` edition; it starts as the first one with some of its parts replaced."""
        self.editions["fixed"] = replace(self._first, reason=reason, **changes)
        return self.editions["fixed"]

    @property
    def _first(self) -> EditionParts:
        return next(iter(self.editions.values()))

    @property
    def is_table(self) -> bool:
        """Whether a table is submitted, and not files."""
        return isinstance(self.submission, Columns)

    @property
    def form(self) -> Columns:
        """The form of the table that is submitted.

        Raises:
            UsageError: the submission is not a table.
        """
        if isinstance(self.submission, Files):
            raise UsageError(f"{self.id} asks for files ({', '.join(self.submission.names)}), not for a table.")
        return self.submission

    @property
    def parts(self) -> EditionParts:
        """What the edition that is meant consists of."""
        return self.editions[self.edition]

    def with_brief(self, brief: str, note: str = "") -> Task:
        """The task with what agents are told; `note` is what the fixed edition adds to it."""
        editions = dict(self.editions)
        if note:
            editions["fixed"] = replace(editions["fixed"], brief=f"{brief}\n{note}")
        return replace(self, brief=brief, editions=editions)

    def in_edition(self, edition: Edition | None = None) -> Task:
        """The task as it stands in one of its editions, by default the one that is meant.

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
    """A task whose brief the catalogue adds, and whose human leaderboard where it is one of Kaggle's.

    Args:
        leaderboard: what scores are ranked against; thresholds alone will do.
        known_leaks: what ids or the order of rows tell about the answers.
        time_s: working time of a run where no budget is given; by default MLE-bench's.
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
    """A task with starter code to improve on, and MLAgentBench's budget. Its fixed edition is the one that is meant.

    Args:
        first: the edition that is declared first; "fixed" where the original has no score to reproduce.
        known_leaks: what ids or the order of rows tell about the answers.
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
    """A named list of tasks."""

    name: str
    title: str
    tasks: tuple[str, ...]
