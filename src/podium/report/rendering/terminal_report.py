"""Terminal output of reports and comparisons."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from podium.report.aggregate import Summary, display_name, heading, headline
from podium.report.comparison import Comparison, Difference
from podium.report.rendering.result_tables import (
    COMPARISON_NOTE,
    USAGE_LABELS,
    amount,
    improvements_table,
    mean_percentile,
    medal_table,
    notes,
    number,
    research_table,
)
from podium.report.report_document import Report
from podium.report.results import Results, Row
from podium.report.score_references import ReferenceScores
from podium.text import plural, printable

MAX_TASKS, MAX_SCORES = 100, 6
"""Maximum number of tasks, and of scores per task, that a table lists one by one."""
MEDAL_STYLES = {"gold": "yellow", "silver": "bright_white", "bronze": "dark_orange3"}


def print_shown(shown: Group) -> None:
    """Print to standard output, 160 columns wide if it is not a terminal."""
    Console(width=None if sys.stdout.isatty() else 160, highlight=False).print(shown)


def show_report(report: Report) -> Group:
    """Return the whole report, headline first."""
    return Group(*_parts(report))


def _parts(report: Report) -> Iterator[RenderableType]:
    if report.warning:
        yield Text(report.warning, style="bold yellow")
    for gap in report.sandbox_gaps:
        yield Text(printable(gap), style="yellow")
    for results, summary in zip(report.results, report.summaries, strict=True):
        yield Text.assemble(
            (printable(summary.name), "bold"), f": {printable(results.title)}. ", printable(headline(summary))
        )
    for lines in (medal_table(report.summaries), research_table(report.summaries)):
        if lines:
            yield _table(lines)
    for note in notes(report.summaries):
        yield Text(printable(note), style="dim")
    for summary in report.summaries:
        yield from _about(summary)
    if report.profiles:
        area = sorted(report.profiles.area.items(), key=lambda item: -item[1])
        yield Text("AUP: " + ", ".join(f"{printable(name)} {value:.3f}" for name, value in area))
    if len(report.results) == 1 and len(report.results[0].tasks) <= MAX_TASKS:
        yield from _tasks(report.results[0], report.references)
    improvements = improvements_table(report)
    if 1 < len(improvements) <= MAX_TASKS:
        yield _table(improvements, texts=3)
    for name, found in report.findings.items():
        yield Text(printable(f"{name}: {found.summary}"), style="yellow" if found.findings or found.error else "dim")
    yield Text(_verified(report), style="dim")


def _about(summary: Summary) -> Iterator[Text]:
    """Yield a line each for missing runs, failures, pass@k and usage."""
    name = printable(summary.name)
    counts = summary.counts
    missing = {status: counts[status] for status in counts if status not in ("planned", "finished") and counts[status]}
    if missing:
        said = ", ".join(f"{count} {status}" for status, count in missing.items())
        yield Text(f"{name}: {plural(counts['planned'], 'run')} planned, of which {said}.", style="yellow")
    if summary.causes:
        said = ", ".join(f"{display_name(cause)} ({count})" for cause, count in summary.causes.items())
        yield Text(f"{name}: {plural(sum(summary.causes.values()), 'run')} without a valid submission: {said}.")
    if summary.fallbacks:
        yield Text(f"{name}: {plural(summary.fallbacks, 'run')} submitted the initial sample submission unchanged.")
    if summary.pass_at_k:
        few = len(summary.pass_at_k) <= MAX_SCORES
        shown = [at for at in summary.pass_at_k if few or at.k.bit_count() == 1]  # of many, the powers of two
        said = ", ".join(f"k = {at.k}: {at.percent:.1f}{'' if at.customary else '*'}" for at in shown)
        yield Text(f"{name}: any medal in the best of k runs (%): {said} (* noisy, k is more than half the runs).")
    used = {kind: totals for kind, totals in summary.usage.items() if totals.total}
    if used:
        said = ", ".join(f"{USAGE_LABELS[kind]} {amount(kind, totals.mean)}" for kind, totals in used.items())
        yield Text(f"{name}: mean usage per run: {said}.", style="dim")


def _table(lines: Sequence[Sequence[str]], *, texts: int = 2) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(lines[0]):
        table.add_column(Text(printable(name)), justify="left" if place < texts else "right", overflow="fold")
    for line in lines[1:]:
        table.add_row(*(Text(printable(cell)) for cell in line))
    return table


def _tasks(results: Results, references: dict[str, ReferenceScores]) -> Iterator[Table]:
    """Yield the table of an experiment's competitions, if there are any."""
    competitions = {row.task for row in results.rows if row.competition}
    table = Table("Task", "Metric", "Scores", "Medals", box=SIMPLE_HEAD, pad_edge=False)
    for name in ("Percentile", "Median", "Bronze", "Silver", "Gold"):
        table.add_column(Text(printable(name)), justify="right")
    for task in (task for task in results.tasks if task in competitions):
        rows = [row for row in results.rows if row.task == task]
        reference = references.get(task, ReferenceScores(task))
        arrow = {True: " ↑", False: " ↓", None: ""}[reference.higher_is_better]
        table.add_row(
            Text(printable(task)),
            Text(printable(f"{reference.metric or ''}{arrow}")),
            Text(_scores(rows)),
            _medals(rows),
            mean_percentile(rows, 0),
            *(number(getattr(reference, name)) for name in ("median", "bronze", "silver", "gold")),
        )
    if competitions:
        yield table


def _scores(rows: Sequence[Row]) -> str:
    """Return every run's score, or the cause of a missing one; a range if there are many runs."""
    if len(rows) <= MAX_SCORES:
        return ", ".join(number(row.score) if row.valid else display_name(row.cause or "-") for row in rows)
    scores = sorted(row.score for row in rows if row.valid and row.score is not None)
    valid = f"{len(scores)} of {len(rows)} valid"
    return f"{number(scores[0])} to {number(scores[-1])}, {valid}" if scores else valid


def _medals(rows: Sequence[Row]) -> Text:
    text = Text()
    for medal, style in MEDAL_STYLES.items():
        count = sum(row.medal == medal for row in rows)
        if count:
            text.append(f"{' ' if text else ''}{medal}{f' ×{count}' if len(rows) > 1 else ''}", style=style)
    return text or Text("-")


def _verified(report: Report) -> str:
    if not report.verified:
        return "Not verified. Add --verify to check every run."
    said = " ".join(f"{printable(name)}: {found.summary}" for name, found in report.verified.items())
    return said if all(found.passed for found in report.verified.values()) else f"{said} Details: podium verify EXP"


def show_comparison(comparison: Comparison) -> Group:
    """Return a comparison: verdict, warnings, measures, largest differences by task."""
    parts: list[RenderableType] = [Text(printable(comparison.verdict), style="bold")]
    parts += [Text(printable(f"! {warning}"), style="yellow") for warning in comparison.warnings]
    parts.append(_differences(comparison))
    parts.append(Text(COMPARISON_NOTE, style="dim"))
    deciding = [task for task in comparison.tasks if task.difference][:15]
    if deciding:
        lines = [["Task", "Runs", comparison.first, comparison.second, "Difference"]]
        for task in deciding:
            runs = f"{task.runs[0]} / {task.runs[1]}"
            lines.append([task.task, runs, f"{task.first:.0f}", f"{task.second:.0f}", f"{task.difference:+.0f}"])
        parts.append(Text(f"Largest differences by task ({display_name(comparison.differences[0].measure)}):"))
        parts.append(_table(lines))
    return Group(*parts)


def _differences(comparison: Comparison) -> Table:
    lines = [["Measure", "Tasks", comparison.first, comparison.second, "Difference", "95 % interval", "p"]]
    lines += [_difference(found) for found in comparison.differences]
    return _table(lines)


def _difference(found: Difference) -> list[str]:
    interval = "-" if found.interval is None else f"{found.interval.low:+.1f} to {found.interval.high:+.1f}"
    cells = [f"{found.first:.1f}", f"{found.second:.1f}", f"{found.difference:+.1f}", interval, f"{found.p:.3g}"]
    return [heading(found.measure), str(found.tasks), *cells]
