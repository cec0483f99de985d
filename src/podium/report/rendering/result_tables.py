"""Tables of a report, also as Markdown and LaTeX."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from podium.report.aggregate import (
    COMPETITION_VALUES,
    MISSING,
    RESEARCH_VALUES,
    USAGE,
    Aggregate,
    Summary,
    heading,
    plus_minus,
)
from podium.report.report_document import Report
from podium.report.results import Results, Row
from podium.text import format_duration, plural

COMPARISON_NOTE = "Differences in points. Intervals: bootstrap over tasks. p: permutation of the runs of each task."
UNIT = "Values are percentages: mean ± standard error over seeds."
USAGE_LABELS = {
    "tokens": "tokens",
    "input_tokens": "input tokens",
    "output_tokens": "output tokens",
    "cached_tokens": "cached input tokens",
    "cost": "cost",
    "steps": "steps",
    "executions": "executions",
    "working_s": "working time",
    "wall_s": "wall-clock time",
    "waited_s": "time waiting for cores",
}


def amount(name: str, value: float) -> str:
    """Format an amount of a resource."""
    if name == "cost":
        return f"${value:,.2f}"
    if name.endswith("_s"):
        return format_duration(value)
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.1f}"


def number(value: float | None) -> str:
    """Format a score."""
    return "-" if value is None else f"{value:.4g}"


class TextTable(NamedTuple):
    """Table of text."""

    title: str
    lines: list[list[str]]
    """Rows of cells, the header first."""
    texts: int = 2
    """Number of text columns on the left; numbers follow."""


def all_tables(report: Report) -> list[TextTable]:
    """Return every table of a report that has rows."""
    summaries = report.summaries
    tables = [
        TextTable("Medals", medal_table(summaries), 2),
        TextTable("Research tasks", research_table(summaries), 2),
        TextTable("Any medal by kind of data (%)", kinds_table(summaries), 1),
        TextTable("Any medal in the best of k runs (%)", passes_table(summaries), 1),
        TextTable("Competitions", competitions_table(report), 3),
        TextTable("Improvement over the baseline", improvements_table(report), 3),
        TextTable("Mean usage per run (total)", usage_table(summaries), 1),
        TextTable("Runs without a valid submission, by cause", causes_table(summaries), 1),
    ]
    return [table for table in tables if len(table.lines) > 1]


def medal_table(summaries: Sequence[Summary]) -> list[list[str]]:
    """Return a row per experiment and group of competitions after a header."""
    groups = [(summary, group) for summary in summaries for group in summary.competitions]
    return _table(groups, tuple(COMPETITION_VALUES))


def research_table(summaries: Sequence[Summary]) -> list[list[str]]:
    """Return a row per experiment with research tasks after a header."""
    groups = [(summary, summary.research) for summary in summaries if summary.research is not None]
    known = [name for name in RESEARCH_VALUES if any(group and name in group.measures for _, group in groups)]
    return _table(groups, known)


def _table(groups: Sequence[tuple[Summary, Aggregate]], measures: Sequence[str]) -> list[list[str]]:
    if not groups:
        return []
    used = [name for name in measures if any(name in group.measures for _, group in groups)]
    lines = [["Experiment", "Tasks", "Seeds", *(heading(name).replace("Success at", ">") for name in used)]]
    for summary, group in groups:
        cells = [plus_minus(group.measures[name]) if name in group.measures else "-" for name in used]
        lines.append([summary.name, f"{group.group} ({group.tasks})", str(group.seeds), *cells])
    return lines


def kinds_table(summaries: Sequence[Summary]) -> list[list[str]]:
    """Return any medal by kind of data, empty if there is only one kind."""
    if not any(summary.kinds for summary in summaries):
        return []
    by_name = [{group.group: group for group in summary.kinds or summary.competitions} for summary in summaries]
    names = sorted({name for groups in by_name for name in groups if name != "all"})
    lines = [["Kind of data", "Tasks", *(summary.name for summary in summaries)]]
    for name in names:
        groups = [groups.get(name) for groups in by_name]
        cells = [plus_minus(group.measures["any_medal"]) if group and group.measures else "-" for group in groups]
        lines.append([name, str(max(group.tasks for group in groups if group)), *cells])
    return lines


def passes_table(summaries: Sequence[Summary]) -> list[list[str]]:
    """Return any medal in the best of k runs; of many k only powers of two."""
    known = [summary for summary in summaries if summary.pass_at_k]
    ks = sorted({at.k for summary in known for at in summary.pass_at_k})
    ks = ks if len(ks) <= 8 else [k for k in ks if k.bit_count() == 1 or k == ks[-1]]
    found = {summary.name: {at.k: f"{at.percent:.1f}" for at in summary.pass_at_k} for summary in known}
    return [
        ["Experiment", *(f"k = {k}" for k in ks)],
        *([name, *(at.get(k, "-") for k in ks)] for name, at in found.items()),
    ]


def competitions_table(report: Report) -> list[list[str]]:
    """Return a row per competition and experiment: scores, medals, percentile and thresholds."""
    marks = [name for name in ("median", "bronze", "silver", "gold") if _is_known(report, name)]
    head = ["Task", "Experiment", "Metric", "Valid runs", "Best score", "Medals", "Percentile", *map(heading, marks)]
    lines = [head]
    for results, task, rows in _by_task(report, competition=True):
        reference = report.references.get(task)
        medals = Counter(row.medal for row in rows if row.medal)
        lines.append(
            [
                *(task, results.name, _metric(report, task), _valid(rows), _best(rows)),
                ", ".join(f"{count} {medal}" for medal, count in medals.items()) or "-",
                mean_percentile(rows, 1),
                *(number(getattr(reference, name, None)) for name in marks),
            ]
        )
    return lines


def mean_percentile(rows: Sequence[Row], decimals: int) -> str:
    """Return the mean percentile of a task's runs; a run without a valid submission counts as 0."""
    places = [COMPETITION_VALUES["percentile"](row) for row in rows if row.counts]
    known = [place for place in places if not math.isnan(place)]
    is_unknown = any(row.valid for row in rows) and all(row.percentile is None for row in rows)
    return "-" if is_unknown or not known else f"{np.mean(known):.{decimals}f}"


def improvements_table(report: Report) -> list[list[str]]:
    """Return a row per research task and experiment: baseline, best score, mean and best improvement."""
    head = ["Task", "Experiment", "Metric", "Valid runs", "Baseline", "Best score", "Improvement (%)", "Best (%)"]
    lines = [[*head, "Beyond noise"]]
    for results, task, rows in _by_task(report, competition=False):
        gains = [row.improvement for row in rows if row.improvement is not None]
        reference = report.references.get(task)
        lines.append(
            [
                *(task, results.name, _metric(report, task), _valid(rows)),
                number(reference.baseline if reference else None),
                _best(rows),
                f"{np.mean(gains):+.1f}" if gains else "-",
                f"{max(gains):+.1f}" if gains else "-",
                _beyond_noise(rows),
            ]
        )
    return lines


def _beyond_noise(rows: Sequence[Row]) -> str:
    if all(row.beyond_noise is None for row in rows):
        return "-"
    return f"{sum(bool(row.beyond_noise) for row in rows)} of {len(rows)}"


def usage_table(summaries: Sequence[Summary]) -> list[list[str]]:
    """Return the mean and total usage of runs."""
    used = [name for name in USAGE if any(name in each.usage and each.usage[name].total for each in summaries)]
    if "tokens" in used and "cost" not in used:
        used.insert(used.index("tokens") + 1, "cost")
    lines = [["Resource", *(summary.name for summary in summaries)]]
    for name in used:
        lines.append([heading(USAGE_LABELS[name]), *(_used(name, summary) for summary in summaries)])
    return lines


def _used(name: str, summary: Summary) -> str:
    totals = summary.usage.get(name)
    if totals is None:
        return "unknown" if name == "cost" and "tokens" in summary.usage else "-"
    return f"{amount(name, totals.mean)} ({amount(name, totals.total)})"


def causes_table(summaries: Sequence[Summary]) -> list[list[str]]:
    """Return the causes of missing valid submissions, the most frequent first."""
    causes = Counter[str]()
    for summary in summaries:
        causes.update(summary.causes)
    lines = [["Cause", *(summary.name for summary in summaries)]]
    lines += [
        [heading(cause), *(str(each.causes.get(cause, 0)) for each in summaries)] for cause, _ in causes.most_common()
    ]
    return lines


def _by_task(report: Report, *, competition: bool) -> list[tuple[Results, str, list[Row]]]:
    """Return the runs with a result by task and experiment, ordered by task."""
    found: dict[tuple[str, str], list[Row]] = {}
    for results in report.results:
        for row in results.rows:
            if row.counts and row.competition is competition:
                found.setdefault((row.task, results.name), []).append(row)
    by_name = {results.name: results for results in report.results}
    order = {task: place for place, task in enumerate(report.references)}
    ordered = sorted(found.items(), key=lambda item: order.get(item[0][0], len(order)))
    return [(by_name[name], task, rows) for (task, name), rows in ordered]


def _is_known(report: Report, name: str) -> bool:
    return any(getattr(scores, name) is not None for scores in report.references.values())


def _metric(report: Report, task: str) -> str:
    reference = report.references.get(task)
    arrow = {True: " ↑", False: " ↓", None: ""}[reference.higher_is_better if reference else None]
    return f"{(reference.metric if reference else None) or '-'}{arrow}"


def _valid(rows: Sequence[Row]) -> str:
    return f"{sum(row.valid for row in rows)} of {len(rows)}"


def _best(rows: Sequence[Row]) -> str:
    scores = [row.score for row in rows if row.valid and row.score is not None]
    if not scores:
        return "-"
    # A run without a grade has no direction.
    return number(max(scores) if any(row.higher_is_better for row in rows) else min(scores))


def markdown(report: Report) -> str:
    """Return all tables and notes as Markdown."""
    tables = [f"### {_markdown_text(each.title)}\n\n{_markdown_table(each)}" for each in all_tables(report)]
    return _document(report, tables, lambda note: f"- {_markdown_text(note)}")


def latex(report: Report) -> str:
    """Return all tables and notes as LaTeX; the preamble needs booktabs."""
    return _document(report, [_latex_table(each) for each in all_tables(report)], lambda note: f"% {note}")


def _document(report: Report, tables: Sequence[str], comment: Callable[[str], str]) -> str:
    said = [*notes(report.summaries), *missing_runs(report), *([report.warning] if report.warning else [])]
    return "\n\n".join([*tables, "\n".join(comment(" ".join(note.split())) for note in said)]) + "\n"


def missing_runs(report: Report) -> list[str]:
    """Return a line for each experiment with missing results or unreadable records."""
    treated = (
        "Missing runs count as failures."
        if report.pad
        else "Only complete seeds count; --pad counts missing runs as failures."
    )
    said = []
    for summary in report.summaries:
        if summary.missing:
            states = ", ".join(f"{count} {MISSING[name]}" for name, count in summary.missing.items())
            said.append(
                f"{summary.name}: {plural(summary.counts['planned'], 'run')} planned, of which {states}. {treated}"
            )
        if unreadable := summary.counts["unreadable"]:
            said.append(f"{summary.name}: {plural(unreadable, 'unreadable record')} counted as failed.")
    return said


def notes(summaries: Sequence[Summary]) -> list[str]:
    """Return the notes to the tables: unit, standard error, padded and excluded runs."""
    made = [
        f"{summary.name}, {group.group}: {group.note}."
        for summary in summaries
        for group in (*summary.competitions, *([summary.research] if summary.research else []))
        if not group.complete
    ]
    said = [UNIT]
    if any(summary.competitions for summary in summaries):
        said.append("Percentile: percentage of the leaderboard with a worse score.")
    if any(summary.research for summary in summaries):
        said.append(
            "> 10 %: runs that improved on the baseline by more than 10 %. Improved: the same, and by more than the "
            "baseline's noise, which is known once the starter code was measured several times (podium baseline TASK)."
        )
    open_to_all = [
        f"{summary.name}: {plural(summary.not_secret, 'task')} generated from public seeds. Anyone who knows the task "
        "ids can generate the answers."
        for summary in summaries
        if summary.not_secret
    ]
    return [" ".join(said), *open_to_all, *made]


def _markdown_table(table: TextTable) -> str:
    rows = ["| " + " | ".join(_markdown_text(cell) for cell in line) + " |" for line in table.lines]
    rule = "|---" * table.texts + "|--:" * (len(table.lines[0]) - table.texts) + "|"
    return "\n".join([rows[0], rule, *rows[1:]])


def _markdown_text(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "\\|`*_<>[]" else letter for letter in text)


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
}


def _latex_table(table: TextTable) -> str:
    rows = [" & ".join(_latex_text(cell) for cell in line) + r" \\" for line in table.lines]
    columns = "l" * table.texts + "r" * (len(table.lines[0]) - table.texts)
    return "\n".join(
        [
            f"% {table.title}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            rows[0],
            r"\midrule",
            *rows[1:],
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _latex_text(text: str) -> str:
    return "".join(_LATEX.get(letter) or (f"\\{letter}" if letter in "&%$#_{}" else letter) for letter in text)
