"""What a model knows of a task without having been told: names cut out of its brief, the first rows of its data.

All it takes is somebody who answers a question. What nobody can have seen, such as forged tasks, is the control.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

Ask = Callable[[str], str]
"""Gives a model's answer to a question."""
BLANK = "_____"
MOST_FACTS = 12
"""Of one brief."""
SHOWN_ROWS, COMPARED = 5, 500
_QUOTED = re.compile(r"`([A-Za-z][\w./-]{2,40})`")
_LISTED = re.compile(r"^\| *([A-Za-z][\w, -]{2,120}?) *\|", re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])\d{3,}(?:[.,]\d+)*(?![\w.])")
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


def ask_for_solution(ask: Ask, brief: str) -> str:
    """What a model says of the winning solution, told only the brief: for a person to judge."""
    return ask(
        f"{brief}\n\nIf you know which competition this is, name it and describe its winning solution. Else say so."
    )
