"""Failure modes of an experiment's runs from `failures.json`, as a table and a chart.

The modes are those of MLAgentBench's qualitative analysis.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from pydantic import BaseModel, ConfigDict

from podium.errors import RecordError
from podium.runs.run_folder import read_document

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

FAILURES_FILE = "failures.json"
Mode = Literal[
    "success", "small improvement", "bad plan", "debugging", "hallucination", "response format", "token length"
]
MODES: tuple[Mode, ...] = get_args(Mode)
COLOURS = ("#12936a", "#8fbf6a", "#8c99a6", "#e07b00", "#c43d3d", "#7a5cc9", "#2f7fd1")
MAX_TASKS = 40


class RunFailureMode(BaseModel):
    """Failure mode of one run, and the step that shows it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: str
    seed: int
    agent: str
    mode: Mode
    reason: str
    step: int | None = None
    quote: str = ""
    source: Literal["rules", "model"] = "rules"


class Failures(BaseModel):
    """Content of `failures.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    runs: tuple[RunFailureMode, ...] = ()
    error: str | None = None
    """Reason why the file cannot be read."""

    def counts(self, by: Literal["agent", "task"]) -> dict[str, Counter[str]]:
        """Return the number of runs in each mode, by agent or by task."""
        found: dict[str, Counter[str]] = {}
        for run in self.runs:
            found.setdefault(run.agent if by == "agent" else run.task, Counter())[run.mode] += 1
        return found

    def table(self, by: Literal["agent", "task"]) -> list[list[str]]:
        """Return the counts as rows after a header, without modes that no run has."""
        modes = [mode for mode in MODES if any(run.mode == mode for run in self.runs)]
        rows = [[name, *(str(counted[mode]) for mode in modes)] for name, counted in self.counts(by).items()]
        return [[by.capitalize(), *(mode.capitalize() for mode in modes)], *rows[:MAX_TASKS]]

    def examples(self, most: int = 3) -> dict[str, list[RunFailureMode]]:
        """Return a few runs of each mode other than success."""
        return {mode: found for mode in MODES[1:] if (found := [run for run in self.runs if run.mode == mode][:most])}


def read_failures(folder: Path) -> Failures | None:
    """Return the failure modes of an experiment, or None if the runs were not classified."""
    try:
        return read_document(folder / FAILURES_FILE, Failures)
    except RecordError as error:
        return Failures(error=str(error))


def chart(found: Sequence[Failures]) -> Figure | None:
    """Return stacked bars of the modes of each agent and of each task."""
    runs = tuple(run for each in found for run in each.runs)
    if not runs:
        return None
    from plotly.graph_objects import Bar, Figure

    from podium.report.rendering.plotly_charts import label, with_layout

    counted = Failures(runs=runs)
    groups = {**counted.counts("agent"), **dict(list(counted.counts("task").items())[:MAX_TASKS])}
    labels = [label(name) for name in groups]
    bars = [
        Bar(
            y=labels,
            x=[100.0 * each[mode] / each.total() for each in groups.values()],
            orientation="h",
            name=mode,
            marker_color=colour,
            hovertemplate="%{x:.0f} % " + mode + "<extra></extra>",
        )
        for mode, colour in zip(MODES, COLOURS, strict=True)
        if any(each[mode] for each in groups.values())
    ]
    figure = Figure(bars)
    figure.update_layout(barmode="stack", bargap=0.35, legend_traceorder="normal")
    figure.update_yaxes(autorange="reversed", automargin=True)
    figure.update_xaxes(title_text="Runs by agent and by task (%)", range=[0, 100])
    return with_layout(figure, 110 + 30 * len(groups), legend=True)
