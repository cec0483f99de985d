"""Probes of a model's prior knowledge of a task: names cut out of its brief, and the first rows of its data.

The probes need only a function that answers questions. Forged tasks, which no model can have seen, are the control.
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
"""Significance level of the probes."""
BLANK = "_____"
MAX_FACTS = 12
"""Largest number of facts cut out of one brief."""
SHOWN_ROWS, COMPARED = 5, 500
_QUOTED = re.compile(r"`([A-Za-z][\w./-]{2,40})`")
_LISTED = re.compile(r"^\| *([A-Za-z][\w, -]{2,120}?) *\|", re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])\d{3,}(?:[.,]\d+)*(?![\w.])")
_SOLUTION = "If you know which competition this is, name it and describe its winning solution. Otherwise say so."
_COMMON = re.compile(
    r"(train|test|sample_?submission|submission|id|target|label|column|field|file|meaning)(\.\w+)?|/home.*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Fact:
    """Question with a gap, and the text that was cut out."""

    task: str
    question: str
    answer: str


def masked_facts(task: str, brief: str, *, seed: int = 0) -> list[Fact]:
    """Cut rare names and numbers out of a brief, each at every occurrence."""
    listed = [name.strip() for cell in _LISTED.findall(brief) for name in cell.split(",")]
    found = dict.fromkeys([*_QUOTED.findall(brief), *listed, *_NUMBER.findall(brief)])
    names = [name for name in found if len(name) > 2 and " " not in name and not _COMMON.fullmatch(name)]
    chosen = np.random.default_rng(seed).permutation(len(names))[:MAX_FACTS]
    return [Fact(task, _question(brief, names[place]), names[place]) for place in sorted(chosen)]


def _question(brief: str, name: str) -> str:
    text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", BLANK, brief)
    return (
        "This text describes a data science task. Every occurrence of one name or number was replaced by "
        f"{BLANK}.\n\n{text}\n\nWhat was replaced? Answer with the name or number alone."
    )


@dataclass(frozen=True)
class FactsProbe:
    """Numbers of gaps that a model filled in briefs of tasks, and in those of the control."""

    hits: int
    asked: int
    control_hits: int
    control_asked: int
    p: float
    """Probability of at least this excess over the control if the model knew neither (Fisher's exact test,
    one-sided).
    """


def probe_facts(ask: Ask, facts: Sequence[Fact], control: Sequence[Fact]) -> FactsProbe:
    """Ask for all gaps of the tasks and of the control."""
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
    """Number of cells of a table's first rows that a model wrote from memory."""

    task: str
    cells: int
    right: int
    by_chance: float
    """Mean number of correct cells when its answer is compared with other rows of the table."""
    p: float
    """Share of other rows that its answer matches as well."""


def probe_rows(ask: Ask, task: str, brief: str, table: pd.DataFrame, *, seed: int = 0) -> RowsProbe | None:
    """Ask for the first rows of a table, given only the brief and the column names; None for a short table."""
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
        f"the next {SHOWN_ROWS} lines of the file exactly as they are, as CSV and nothing else."
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
    """Prior knowledge of tasks that the probes found in a model."""

    facts: FactsProbe
    rows: tuple[RowsProbe, ...]
    solutions: dict[str, str]
    """Model's description of the winning solution of each task, for a person to judge."""

    @property
    def is_known(self) -> bool:
        """True if a probe is significant; the rows of several tasks share one level (Bonferroni)."""
        level = LEVEL / max(1, len(self.rows))
        return self.facts.p < LEVEL or any(each.p <= level for each in self.rows)

    def to_dict(self) -> dict[str, Any]:
        return {"is_known": self.is_known, **asdict(self)}


def control_briefs(seed: int) -> dict[str, str]:
    """Return the briefs of forged tasks, which were made up for Podium and belong to no competition."""
    return {name: draw_data(load_family(name), "easy", seed).brief for name in CONTROLS}


def probe(ask: Ask, tasks: Sequence[PreparedTask], *, seed: int) -> Contamination:
    """Ask a model for the names cut out of briefs, for the first rows of the tables, and for the winning solutions.

    Args:
        seed: unpublished seed of the forged tasks that serve as the control.
    """
    facts = [fact for each in tasks for fact in masked_facts(each.task.id, each.task.brief)]
    control = [fact for name, brief in control_briefs(seed).items() for fact in masked_facts(name, brief)]
    rows = []
    for each in tasks:
        path = each.place.public / "train.csv"
        # A miniature is fabricated on this machine: no model can have seen its rows.
        if path.is_file() and not each.miniature:
            table = pd.read_csv(path, dtype=str, keep_default_na=False, nrows=5_000)
            rows.append(probe_rows(ask, each.task.id, each.task.brief, table))
    solutions = {each.task.id: ask(f"{each.task.brief}\n\n{_SOLUTION}") for each in tasks}
    return Contamination(probe_facts(ask, facts, control), tuple(row for row in rows if row), solutions)
