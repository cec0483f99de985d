"""What a model knows of a task without having been told: names cut out of its brief, the first rows of its data.

All it takes is somebody who answers a question. What nobody can have seen, such as forged tasks, is the control.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.catalog.forge.families import load_family
from podium.catalog.forge.field import draw_data
from podium.grading.prepared_task import PreparedTask
from podium.integrity.ask_model import Ask

CONTROLS = ("tabular-classification", "tabular-regression", "time-series")
"""Families of forged tasks whose briefs describe tables."""
LEVEL = 0.01
"""Below this a probe says that a model knows a task."""
BLANK = "_____"
MOST_FACTS = 12
"""Of one brief."""
SHOWN_ROWS, COMPARED = 5, 500
_QUOTED = re.compile(r"`([A-Za-z][\w./-]{2,40})`")
_LISTED = re.compile(r"^\| *([A-Za-z][\w, -]{2,120}?) *\|", re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])\d{3,}(?:[.,]\d+)*(?![\w.])")
_SOLUTION = "If you know which competition this is, name it and describe its winning solution. Else say so."
_COMMON = re.compile(
    r"(train|test|sample_?submission|submission|id|target|label|column|field|file|meaning)(\.\w+)?|/home.*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Fact:
    """A question with a gap, and what stood there."""

    task: str
    question: str
    answer: str


def masked_facts(task: str, brief: str, *, seed: int = 0) -> list[Fact]:
    """Rare names and numbers of a brief, each cut out everywhere it stands."""
    listed = [name.strip() for cell in _LISTED.findall(brief) for name in cell.split(",")]
    found = dict.fromkeys([*_QUOTED.findall(brief), *listed, *_NUMBER.findall(brief)])
    names = [name for name in found if len(name) > 2 and " " not in name and not _COMMON.fullmatch(name)]
    chosen = np.random.default_rng(seed).permutation(len(names))[:MOST_FACTS]
    return [Fact(task, _question(brief, names[place]), names[place]) for place in sorted(chosen)]


def _question(brief: str, name: str) -> str:
    text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", BLANK, brief)
    return (
        "This describes a data science task. One name or number was cut out wherever it stood, and replaced by "
        f"{BLANK}.\n\n{text}\n\nWhat was cut out? Answer with it alone."
    )


@dataclass(frozen=True)
class FactsProbe:
    """How many gaps a model filled, beside how many it filled in briefs that nobody can have seen."""

    hits: int
    asked: int
    control_hits: int
    control_asked: int
    p: float
    """Chance of so many more hits than in the control, if the model knew neither (Fisher's exact test, one-sided)."""


def probe_facts(ask: Ask, facts: Sequence[Fact], control: Sequence[Fact]) -> FactsProbe:
    """Asks for all gaps of the tasks and of the control."""
    from scipy.stats import fisher_exact

    hits, control_hits = (sum(_is_hit(ask(fact.question), fact.answer) for fact in each) for each in (facts, control))
    table = [[hits, len(facts) - hits], [control_hits, len(control) - control_hits]]
    p = float(fisher_exact(np.array(table), alternative="greater").pvalue)
    return FactsProbe(hits, len(facts), control_hits, len(control), p)


def _is_hit(said: str, answer: str) -> bool:
    def plain(text: str) -> str:
        return re.sub(r"[\W_]+", "", text).casefold()

    return plain(said.strip().splitlines()[0] if said.strip() else "") == plain(answer)


@dataclass(frozen=True)
class RowsProbe:
    """How many cells of the first rows of a table a model wrote down without having seen it."""

    task: str
    cells: int
    right: int
    by_chance: float
    """Cells that are right on average when its answer is compared with other rows of the table."""
    p: float
    """Share of other rows that its answer fits as well."""


def probe_rows(ask: Ask, task: str, brief: str, table: pd.DataFrame, *, seed: int = 0) -> RowsProbe | None:
    """Asks for the first rows of a table, told only the brief and the names of the columns; None for a short table."""
    if len(table) < 4 * SHOWN_ROWS:
        return None
    cells = table.map(_plain).to_numpy()
    said = _read_rows(ask(_rows_question(brief, list(map(str, table.columns)))), len(table.columns))
    right = int((cells[:SHOWN_ROWS] == said).sum())
    rng = np.random.default_rng(seed)
    rows = rng.integers(SHOWN_ROWS, len(cells), (COMPARED, SHOWN_ROWS))
    others = (cells[rows] == said[None]).sum(axis=(1, 2))
    p = (1 + int((others >= right).sum())) / (1 + COMPARED)
    return RowsProbe(task, said.size, right, float(others.mean()), p)


def _rows_question(brief: str, columns: Sequence[str]) -> str:
    return (
        f"{brief}\n\nThe training table of this task begins with this line:\n{','.join(columns)}\n\nFrom memory, write "
        f"the next {SHOWN_ROWS} lines of the file exactly as they stand there, as CSV and nothing else."
    )


def _read_rows(said: str, width: int) -> npt.NDArray[np.str_]:
    lines = [line for line in said.splitlines() if line.count(",") >= width // 2][:SHOWN_ROWS]
    rows = [[*row, *[""] * width][:width] for row in csv.reader(io.StringIO("\n".join(lines)))]
    blank = ["\0"] * width  # equals no cell
    return np.array([[_plain(cell) or "\0" for cell in row] for row in [*rows, *[blank] * SHOWN_ROWS][:SHOWN_ROWS]])


def _plain(cell: object) -> str:
    text = "" if cell is None or cell != cell else str(cell).strip()
    return text.removesuffix(".0").casefold()


@dataclass(frozen=True)
class Contamination:
    """What a model knows of tasks that it was not told."""

    facts: FactsProbe
    rows: tuple[RowsProbe, ...]
    solutions: dict[str, str]
    """What the model says of the winning solution of each task, for a person to judge."""

    @property
    def is_known(self) -> bool:
        """Whether a probe says so; the rows of many tasks share one level."""
        level = LEVEL / max(1, len(self.rows))
        return self.facts.p < LEVEL or any(each.p <= level for each in self.rows)

    def to_dict(self) -> dict[str, Any]:
        return {"is_known": self.is_known, **asdict(self)}


def control_briefs(seed: int) -> dict[str, str]:
    """Briefs of forged tasks, which were made up for Podium and belong to no competition."""
    return {name: draw_data(load_family(name), "easy", seed).brief for name in CONTROLS}


def probe(ask: Ask, tasks: Sequence[PreparedTask], *, seed: int) -> Contamination:
    """Asks a model for what was cut out of the briefs of tasks, for the first rows of their tables, and who won.

    Args:
        seed: of the forged tasks that are the control; one that was never published.
    """
    facts = [fact for each in tasks for fact in masked_facts(each.task.id, each.task.brief)]
    control = [fact for name, brief in control_briefs(seed).items() for fact in masked_facts(name, brief)]
    rows = []
    for each in tasks:
        path = each.place.public / "train.csv"
        # A miniature is fabricated here: nobody can have seen its rows.
        if path.is_file() and not each.miniature:
            table = pd.read_csv(path, dtype=str, keep_default_na=False, nrows=5_000)
            rows.append(probe_rows(ask, each.task.id, each.task.brief, table))
    solutions = {each.task.id: ask(f"{each.task.brief}\n\n{_SOLUTION}") for each in tasks}
    return Contamination(probe_facts(ask, facts, control), tuple(row for row in rows if row), solutions)
