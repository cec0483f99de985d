"""HTML report: one self-contained page for screens, phones and print, light or dark.

Text written by agents is hostile input: Jinja escapes it, plotly gets it escaped, and a content security policy lets
only this page's own scripts run.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.errors import MissingExtraError, UsageError
from podium.report import failure_causes
from podium.report.aggregate import HEADLINES, display_name, heading, main_measure
from podium.report.comparison import Comparison, compare
from podium.report.rendering import plotly_charts
from podium.report.rendering.result_tables import (
    COMPARISON_NOTE,
    amount,
    causes_table,
    improvements_table,
    kinds_table,
    medal_table,
    missing_runs,
    notes,
    number,
    research_table,
    usage_table,
)
from podium.report.report_document import Report
from podium.report.results import Results, Row
from podium.report.score_curves import AXES, Axis, RunCurve, read_curves
from podium.text import format_size, plural, printable

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

TEMPLATES = Path(__file__).parent / "templates"
MAX_ERROR_CHARACTERS = 400
"""Maximum number of characters shown of an error."""


@dataclass(frozen=True)
class PageFigure:
    """Figure of the page with its caption."""

    id: str
    title: str
    caption: str
    figure: str
    """Figure as JSON for a script element."""


@dataclass(frozen=True)
class FailureGroup:
    """Runs without a valid submission that have the same cause and error."""

    experiment: str
    cause: str
    error: str
    count: int
    example: str


def render(report: Report, *, made: datetime | None = None) -> str:
    """Render the page.

    Raises:
        MissingExtraError: plotly or Jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise MissingExtraError("The HTML report", "report") from error
    scripts = {"plotly": get_plotlyjs(), "own": _template_text("report.js")}
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "clean": printable, "display_name": display_name, "heading": heading}
    return environment.get_template("report.html").render(
        report=report,
        pairs=list(zip(report.results, report.summaries, strict=True)),
        main_measure=main_measure,
        headlines=HEADLINES,
        comparison_note=COMPARISON_NOTE,
        medal_table=medal_table(report.summaries),
        research_table=research_table(report.summaries),
        notes=notes(report.summaries),
        missing_runs=missing_runs(report),
        improvements=improvements_table(report),
        kinds=kinds_table(report.summaries),
        causes=causes_table(report.summaries),
        charts={chart.id: chart for chart in _charts(report)},
        failures=_failures(report),
        comparison=_comparison(report),
        facts=[(results, _facts(results)) for results in report.results],
        runs=_runs(report),
        marks=_marks(report),
        usage=usage_table(report.summaries),
        style=_template_text("report.css"),
        scripts=scripts,
        policy=_policy(scripts),
        made=f"{made or datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    )


@cache
def _template_text(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _policy(scripts: Mapping[str, str]) -> str:
    """Return a content security policy that allows only these scripts, and inline styles for Plotly."""
    hashes = [b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts.values()]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _charts(report: Report) -> Iterator[PageFigure]:
    results, summaries = report.results, report.summaries
    curves: dict[str, list[RunCurve]] = {each.name: read_curves(each.rows) for each in results}
    is_much = any(len(each.rows) > plotly_charts.MAX_POINTS for each in results)
    many = " To limit the size, only the worst, best and quartile runs of each task are drawn." if is_much else ""
    found: list[tuple[str, str, str, Figure | None]] = [
        (
            "medals",
            "Medals",
            "Share of tasks by medal. The whole bar is any medal, with its standard error.",
            plotly_charts.medals(summaries),
        ),
        (
            "strip",
            "Scores relative to medal thresholds",
            "One line per task. The thresholds are aligned across tasks; between two thresholds the position is "
            f"linear in the score. A cross on the left is a run without a valid submission.{many}",
            plotly_charts.threshold_strip(results, report.references),
        ),
        ("research", "Improvement", "Each run's improvement over the starter code.", plotly_charts.research(results)),
        (
            "pass",
            "Best of k runs",
            "Unbiased estimate of pass@k. Open circles: k is more than half the runs, so the estimate is noisy.",
            plotly_charts.passes(summaries),
        ),
    ]
    caption = _curve_caption([curve for found in curves.values() for curve in found])
    drawn: tuple[Axis, ...] = ("working_s", "tokens")
    for axis in drawn:
        found.append((f"over-{axis}", f"Results over {AXES[axis]}", caption, plotly_charts.score_over(curves, axis)))
    for name, research in (("spending", False), ("spending-research", True)):
        spent = plotly_charts.spending(results, research=research)
        if spent:
            colours = ", coloured by medal" if len(results) == 1 and not research else ""
            heading = f"{'Improvement' if research else 'Percentile'} vs. {spent[1]}"
            found.append((name, heading, f"One point per graded run{colours}.{many}", spent[0]))
    shown = failure_causes.chart(list(report.failures.values()))
    found.append(("modes", "Failure modes", "MLAgentBench's failure modes of the classified runs.", shown))
    if report.profiles:
        caption = "Share of tasks on which an experiment is within a factor of the best; AUP is the area under it."
        found.append(("profiles", "Performance profiles", caption, plotly_charts.profile(report.profiles)))
    for name, title, caption, figure in found:
        if figure is not None:
            yield PageFigure(name, title, caption, _inside_script(figure.to_json()))


def _curve_caption(curves: Sequence[RunCurve]) -> str:
    unreadable = [curve.error for curve in curves if curve.error]
    graded = len(curves) - len(unreadable)
    caption = f"Results of the {graded} runs with graded snapshots, had they ended at that point."
    if not unreadable:
        return caption
    return f"{caption} {plural(len(unreadable), 'unreadable curve')} excluded: {printable(unreadable[0])}"


def _inside_script(text: str) -> str:
    """Escape JSON so that it cannot end the script element around it."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _runs(report: Report) -> defaultdict[tuple[str, str], list[Row]]:
    """Return the runs by experiment and task."""
    found: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for results in report.results:
        for row in results.rows:
            found[results.name, row.task].append(row)
    return found


def _marks(report: Report) -> list[str]:
    """Return the reference scores that at least one task has."""
    names = ("median", "bronze", "silver", "gold", "ceiling", "baseline")
    return [name for name in names if any(getattr(scores, name) is not None for scores in report.references.values())]


def _failures(report: Report) -> list[FailureGroup]:
    rows = [row for results in report.results for row in results.rows if row.cause]
    counted = Counter((row.experiment, str(row.cause), _error_text(row)) for row in rows)
    examples = {(row.experiment, str(row.cause), _error_text(row)): f"{row.task}/{row.seed}" for row in reversed(rows)}
    return [FailureGroup(*key, count, examples[key]) for key, count in counted.most_common()]


def _error_text(row: Row) -> str:
    """Return a run's error as one bounded line, since errors may contain tracebacks and binary output."""
    text = printable(" ".join((row.error or "").split()))
    return text if len(text) <= MAX_ERROR_CHARACTERS else text[:MAX_ERROR_CHARACTERS] + " ..."


def _comparison(report: Report) -> Comparison | str | None:
    """Return the comparison of two experiments, or the reason why they cannot be compared."""
    if len(report.results) != 2:
        return None
    try:
        return compare(*report.results, pad=report.pad)
    except UsageError as error:
        return str(error)


def _facts(results: Results) -> list[tuple[str, str]]:
    """Return the configuration as pairs of label and value."""
    if results.imported:
        return [("Source", "MLE-bench grading reports; budget, network and machine are unknown")]
    plan, ended = results.plan, [row for row in results.rows if row.reported]
    versions = sorted({row.versions for row in ended if row.versions})
    editions = Counter(row.edition for row in ended)
    miniatures = sum(row.miniature for row in ended)
    granted = f"only {', '.join(plan.network)}" if isinstance(plan.network, tuple) else "open"
    networks = sorted({granted if row.network else "closed" for row in ended if row.network is not None})
    facts = [
        ("Agent", plan.agent + (f", {_listed(plan.options)}" if plan.options else "")),
        ("Model", plan.model or "none"),
        ("Other models", _listed(plan.model_roles)),
        ("Budget per run", _listed(dict(plan.budget)) or "no limit"),
        ("Edition", ", ".join(f"{name} ({plural(count, 'run')})" for name, count in editions.items())),
        ("Data", f"fabricated miniatures in {miniatures} of {len(ended)} runs" if miniatures else "real or generated"),
        ("Sandbox", plan.sandbox),
        ("Network", " and ".join(networks) or (granted if plan.network else "closed")),
        ("Resource limits", _listed(dict(plan.limits))),
        ("Cores and GPUs", f"{plural(plan.cores, 'core')} and {plural(plan.gpus, 'GPU')} per execution"),
        ("Python environment", plan.env or "Podium's own"),
        ("Versions and machine", " / ".join(versions) or "unknown"),
        ("Started", results.experiment.document.created),
    ]
    return [(name, printable(value)) for name, value in facts if value]


def _listed(document: Mapping[str, Any]) -> str:
    return ", ".join(f"{_title(name)} {_size(name, value)}" for name, value in document.items() if value is not None)


def _title(name: str) -> str:
    return name.removesuffix("_s").removesuffix("_bytes").replace("_", " ")


def _size(name: str, value: Any) -> str:
    if name.endswith("_s"):
        return amount(name, value)
    if name.endswith("_bytes"):
        return format_size(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
