"""Charts of the HTML report as Plotly figures. The page's script sets the colours that depend on light or dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from podium.report.aggregate import Aggregate, Summary, display_name
from podium.report.performance_profiles import Profiles
from podium.report.results import Results, Row
from podium.report.score_curves import Axis, RunCurve, overall
from podium.report.score_references import THRESHOLDS, ReferenceScores

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

ZONES = ("Below median", "Above median", "Bronze", "Silver", "Gold")
MEDAL_COLOURS = {"bronze": "#b4692e", "silver": "#8c99a6", "gold": "#d4a017"}
ZONE_COLOURS = (
    "rgba(128,128,128,.06)",
    "rgba(128,128,128,.16)",
    "rgba(180,105,46,.26)",
    "rgba(140,153,166,.34)",
    "rgba(212,160,23,.34)",
)
COLOURS = ("#2f7fd1", "#e07b00", "#12936a", "#c25a9c", "#7a5cc9", "#c43d3d", "#5f8a00", "#0096a8")
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "star", "hexagon", "cross", "triangle-down")
ROW_PX = 40
NO_SCORE_X = -0.3
MAX_POINTS = 2_000
"""Maximum number of points that a browser draws quickly."""
UNITS: dict[str, tuple[tuple[float, str], ...]] = {
    "working_s": (
        (3600.0, "hours of working time"),
        (60.0, "minutes of working time"),
        (1.0, "seconds of working time"),
    ),
    "tokens": ((1e6, "million tokens"), (1e3, "thousand tokens"), (1.0, "tokens")),
    "steps": ((1.0, "steps"),),
    "cost": ((1.0, "dollars"),),
}
"""Units of an axis, largest first."""


def unit(name: str, largest: float) -> tuple[float, str]:
    """Return the size and the name of the unit that suits values up to `largest`."""
    return next((found for found in UNITS[name] if largest >= 2 * found[0]), UNITS[name][-1])


def position(score: float, reference: ReferenceScores) -> float | None:
    """Return a score's position among a task's thresholds: 0 to 1 below the median, then 1 per zone, gold from 4 to 5.

    Thresholds of all tasks have the same positions, so that tasks with different metrics share one chart.
    Between two of them the position is linear in the score; 5 is the ceiling, where there is one.
    """
    marks = [reference.median, reference.bronze, reference.silver, reference.gold]
    if reference.higher_is_better is None or any(mark is None for mark in marks):
        return None
    sign = 1.0 if reference.higher_is_better else -1.0
    value, (median, bronze, silver, gold) = sign * score, [sign * mark for mark in marks if mark is not None]
    scale = abs(gold - median) or 1.0
    if value < median:
        return 1.0 / (1.0 + (median - value) / scale)
    for number, (low, high) in enumerate(((median, bronze), (bronze, silver), (silver, gold)), start=1):
        if value < high:
            return number + (value - low) / (high - low)
    if reference.ceiling is not None and sign * reference.ceiling > gold:
        return min(5.0, 4.0 + (value - gold) / (sign * reference.ceiling - gold))
    return 5.0 - 1.0 / (1.0 + (value - gold) / scale)


def threshold_strip(results: Sequence[Results], references: Mapping[str, ReferenceScores]) -> Figure | None:
    """Draw every run's score among its task's thresholds; return None if no task has thresholds."""
    from plotly.graph_objects import Figure, Scatter

    tasks = [task for task in _tasks(results) if position(0.0, references[task]) is not None]
    if not tasks:
        return None
    lines = {task: number for number, task in enumerate(tasks)}
    known = [task for task in tasks if references[task].ceiling is not None]
    figure = Figure()
    if known:
        ceiling = {"symbol": "line-ns-open", "size": 13, "color": "#888", "line_width": 2}
        hover = [f"ceiling {references[task].ceiling:.5g}" for task in known]
        figure.add_trace(
            Scatter(
                x=[5] * len(known),
                y=[lines[task] for task in known],
                mode="markers",
                name="ceiling",
                hovertext=hover,
                hoverinfo="text",
                marker=ceiling,
            )
        )
    for colour, symbol, each in _styled(results):
        rows = thinned([row for row in each.rows if row.task in lines and row.reported])
        symbols = [symbol if row.valid else "x-thin-open" for row in rows]
        figure.add_trace(
            Scatter(
                x=[_strip_x(row, references[row.task]) for row in rows],
                y=[lines[row.task] for row in rows],
                mode="markers",
                name=label(each.name),
                hovertext=[_hover(row, references[row.task]) for row in rows],
                hoverinfo="text",
                marker={"size": 11, "opacity": 0.85, "color": colour, "symbol": symbols, "line_width": 1.5},
            )
        )
    # Set all at once: plotly copies the existing ones for each one added.
    figure.update_layout(shapes=_strip_shapes(len(tasks)), annotations=_strip_labels(tasks))
    figure.update_xaxes(range=[-0.5, 5.15], visible=False)
    figure.update_yaxes(range=[len(tasks) - 0.6, -0.7], visible=False)
    has_legend = len(results) > 1 or bool(known)
    return with_layout(figure, 40 + ROW_PX * len(tasks) + 40 * has_legend, top=36, legend=has_legend)


def _strip_shapes(tasks: int) -> list[dict[str, Any]]:
    """Return the zones and a line for each task."""
    zones = [
        {
            "type": "rect",
            "x0": n,
            "x1": n + 1,
            "y0": -0.7,
            "y1": tasks - 0.6,
            "fillcolor": colour,
            "line": {"width": 0},
            "layer": "below",
        }
        for n, colour in enumerate(ZONE_COLOURS)
    ]
    line = {"width": 1, "color": "rgba(128,128,128,.35)"}
    lines = [
        {"type": "line", "x0": -0.45, "x1": 5, "y0": n, "y1": n, "line": line, "layer": "below"} for n in range(tasks)
    ]
    return [*zones, *lines]


def _strip_labels(tasks: Sequence[str]) -> list[dict[str, Any]]:
    """Return the labels of tasks, and of zones above them."""
    common: dict[str, Any] = {"showarrow": False, "font": {"size": 11}}
    names = [
        {"x": -0.45, "y": n - 0.4, "text": label(task), "xanchor": "left", "yanchor": "middle", **common}
        for n, task in enumerate(tasks)
    ]
    places = [(NO_SCORE_X, "No<br>score"), *((n + 0.5, name.replace(" ", "<br>")) for n, name in enumerate(ZONES))]
    zones = [{"x": x, "y": 1, "yref": "paper", "text": text, "yanchor": "bottom", **common} for x, text in places]
    return [*names, *zones]


def thinned(rows: Sequence[Row]) -> list[Row]:
    """Return all runs, or the worst, best and quartile runs of each task if there are too many to draw."""
    if len(rows) <= MAX_POINTS:
        return list(rows)
    by_task: dict[str, list[Row]] = {}
    for row in rows:
        by_task.setdefault(row.task, []).append(row)
    found = []
    for runs in by_task.values():
        ordered = sorted(
            runs, key=lambda row: (row.valid, row.percentile or 0.0, row.improvement or 0.0, row.score or 0.0)
        )
        places = {round(share * (len(ordered) - 1)) for share in (0.0, 0.25, 0.5, 0.75, 1.0)}
        found += [ordered[place] for place in sorted(places)]
    return found


def _strip_x(row: Row, reference: ReferenceScores) -> float | None:
    return NO_SCORE_X if not row.valid or row.score is None else position(row.score, reference)


def _hover(row: Row, reference: ReferenceScores) -> str:
    score = f"{row.score:.5g}" if row.valid and row.score is not None else display_name(str(row.cause))
    said = [label(row.task), f"seed {row.seed}: {score}"]
    if row.percentile is not None:
        said.append(f"percentile {row.percentile:.0f}")
    said += [f"{name} {value:.5g}" for name in THRESHOLDS if (value := getattr(reference, name)) is not None]
    return "<br>".join(said)


def medals(summaries: Sequence[Summary]) -> Figure | None:
    """Draw gold, silver and bronze as stacked bars with the standard error of any medal, by complexity if known."""
    from plotly.graph_objects import Bar, Figure

    bars = [(summary, group) for summary in summaries for group in summary.competitions if group.measures]
    if len(bars) < 2:
        return None
    several = len(summaries) > 1
    labels = [
        label(f"{summary.name}, {group.group}" if several else f"{group.group} ({group.tasks} tasks)")
        for summary, group in bars
    ]
    figure = Figure()
    for medal in ("gold", "silver", "bronze"):
        errors = [group.measures["any_medal"].sem or 0.0 for _, group in bars] if medal == "bronze" else None
        figure.add_trace(
            Bar(
                y=labels,
                x=[group.measures[medal].mean for _, group in bars],
                orientation="h",
                name=medal,
                marker_color=MEDAL_COLOURS[medal],
                error_x=None
                if errors is None or not any(errors)
                else {"type": "data", "array": errors, "color": "#888", "thickness": 1.5},
                hovertemplate="%{x:.1f} % " + medal + "<extra></extra>",
            )
        )
    figure.update_layout(barmode="stack", bargap=0.35, legend_traceorder="normal")
    figure.update_yaxes(autorange="reversed", automargin=True)
    figure.update_xaxes(title_text="Tasks with a medal (%), ± standard error", range=[0, _top(bars)])
    return with_layout(figure, 110 + 34 * len(bars), legend=True)


def _top(bars: Sequence[tuple[Summary, Aggregate]]) -> float:
    """Return the end of the axis: slightly beyond the longest bar and its error."""
    ends = [group.measures["any_medal"].mean + (group.measures["any_medal"].sem or 0.0) for _, group in bars]
    return min(100.0, max(10.0, 1.08 * max(ends)))


def research(results: Sequence[Results]) -> Figure | None:
    """Draw every run's improvement over the baseline on research tasks."""
    from plotly.graph_objects import Figure, Scatter

    tasks = [
        task
        for task in _tasks(results)
        if any(row.improvement is not None for each in results for row in each.rows if row.task == task)
    ]
    if not tasks:
        return None
    figure = Figure()
    for colour, symbol, each in _styled(results):
        rows = thinned([row for row in each.rows if row.improvement is not None])
        hover = [f"{label(row.task)}, seed {row.seed}<br>{row.improvement:+.1f} %" for row in rows]
        figure.add_trace(
            Scatter(
                x=[row.improvement for row in rows],
                y=[label(row.task) for row in rows],
                mode="markers",
                name=label(each.name),
                hovertext=hover,
                hoverinfo="text",
                marker={"size": 11, "color": colour, "symbol": symbol, "opacity": 0.85},
            )
        )
    figure.add_vline(x=0, line_width=1.5, line_color="#888")
    figure.add_vline(x=10, line_width=1.5, line_dash="dot", line_color="#888")
    figure.update_xaxes(title_text="Improvement over the baseline (%); dotted line: success")
    figure.update_yaxes(automargin=True, autorange="reversed")
    return with_layout(figure, 110 + 28 * len(tasks), legend=len(results) > 1)


def score_over(curves: Mapping[str, Sequence[RunCurve]], axis: Axis) -> Figure | None:
    """Draw the share of runs with a medal and the mean percentile against a resource used."""
    from plotly.graph_objects import Figure, Scatter

    found = {name: curve for name, runs in curves.items() if runs and (curve := overall(runs, axis)) is not None}
    if not found or max(curve.x[-1] for curve in found.values()) == 0:
        return None
    scale, title = unit(axis, max(curve.x[-1] for curve in found.values()))
    figure = Figure()
    for colour, (name, curve) in zip(COLOURS * len(found), found.items(), strict=False):
        x = [value / scale for value in curve.x]
        for values, said, dash in (
            (curve.any_medal, "Any medal (%)", "solid"),
            (curve.percentile, "Percentile", "dot"),
        ):
            shown = said if len(found) == 1 else f"{label(name)}: {said.lower()}"
            line = {"shape": "hv", "dash": dash, "color": colour, "width": 2.5}
            figure.add_trace(Scatter(x=x, y=values, mode="lines", name=shown, line=line))
    figure.update_xaxes(title_text=title, rangemode="tozero")
    figure.update_yaxes(range=[0, 102])
    return with_layout(figure, 360, legend=True)


def spending(results: Sequence[Results], *, research: bool = False) -> tuple[Figure, str] | None:
    """Draw each run's result against its usage (dollars, tokens or time), and return the unit's name too.

    Args:
        research: Draw the improvement of research tasks instead of the percentile of competitions.
    """
    from plotly.graph_objects import Figure, Scatter

    result = "improvement" if research else "percentile"
    rows = [row for each in results for row in each.rows if row.reported and getattr(row, result) is not None]
    name = next((name for name in ("cost", "tokens", "working_s") if any(getattr(row, name) for row in rows)), None)
    if name is None:
        return None
    scale, unit_name = unit(name, max(getattr(row, name) or 0.0 for row in rows))
    figure = Figure()
    for colour, symbol, each in _styled(results):
        own = thinned([row for row in rows if row.experiment == each.name and getattr(row, name) is not None])
        medals = len(results) == 1 and not research
        colours = [MEDAL_COLOURS.get(row.medal or "", colour) for row in own] if medals else colour
        figure.add_trace(
            Scatter(
                x=[getattr(row, name) / scale for row in own],
                y=[getattr(row, result) for row in own],
                mode="markers",
                name=label(each.name),
                hovertext=[_spent(row, result) for row in own],
                hoverinfo="text",
                marker={"size": 11, "opacity": 0.9, "color": colours, "symbol": symbol},
            )
        )
    figure.update_xaxes(title_text=f"{unit_name.capitalize()} per run", rangemode="tozero")
    if research:
        figure.update_yaxes(title_text="Improvement over the baseline (%)")
    else:
        figure.update_yaxes(title_text="Percentile", range=[-3, 103])
    return with_layout(figure, 360, legend=len(results) > 1), unit_name


def _spent(row: Row, result: str) -> str:
    value = f"percentile {row.percentile:.0f}, {row.medal or 'no medal'}" if result == "percentile" else ""
    cost = f", ${row.cost:,.2f}" if row.cost else ""
    return f"{label(row.task)}, seed {row.seed}<br>{value or f'{row.improvement:+.1f} %'}{cost}"


def profile(found: Profiles) -> Figure:
    """Draw the share of tasks on which an experiment is within a factor of the best."""
    from plotly.graph_objects import Figure, Scatter

    figure = Figure()
    for colour, name in zip(COLOURS * len(found.rho), found.rho, strict=False):
        line = {"shape": "hv", "color": colour, "width": 2.5}
        shown = f"{label(name)} (AUP {found.area[name]:.3f})"
        figure.add_trace(Scatter(x=found.tau, y=found.rho[name], mode="lines", name=shown, line=line))
    figure.update_xaxes(title_text="τ = log10 of the ratio to the best score")
    figure.update_yaxes(title_text="Share of tasks", range=[0, 1.03])
    return with_layout(figure, 360, legend=True)


def passes(summaries: Sequence[Summary]) -> Figure | None:
    """Draw the share of tasks with a medal in the best of k runs."""
    from plotly.graph_objects import Figure, Scatter

    known = [summary for summary in summaries if summary.pass_at_k]
    if not known:
        return None
    figure = Figure()
    for colour, summary in zip(COLOURS * len(known), known, strict=False):
        x, y = [at.k for at in summary.pass_at_k], [at.percent for at in summary.pass_at_k]
        symbols = ["circle" if at.customary else "circle-open" for at in summary.pass_at_k]
        figure.add_trace(
            Scatter(
                x=x,
                y=y,
                mode="lines+markers",
                name=label(summary.name),
                line_color=colour,
                marker={"size": 9, "symbol": symbols},
            )
        )
    figure.update_xaxes(
        title_text="Number of runs k", dtick=max(1, max(len(summary.pass_at_k) for summary in known) // 8)
    )
    figure.update_yaxes(title_text="Tasks with a medal (%)", rangemode="tozero")
    return with_layout(figure, 330, legend=len(known) > 1)


def _tasks(results: Sequence[Results]) -> list[str]:
    return list(dict.fromkeys(task for each in results for task in each.tasks))


def _styled(results: Sequence[Results]) -> list[tuple[str, str, Results]]:
    return [(COLOURS[number % 8], SYMBOLS[number % 8], each) for number, each in enumerate(results)]


def label(text: str) -> str:
    """Escape text for plotly, which interprets some HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def with_layout(figure: Figure, height: int, *, legend: bool, top: int = 12) -> Figure:
    """Apply the layout that all figures share."""
    bare = figure.layout.xaxis.visible is False
    settings: dict[str, Any] = {
        "height": height,
        "template": "none",
        "margin": {"l": 4, "r": 4, "t": top, "b": 8} if bare else {"l": 52, "r": 12, "t": top, "b": 48},
        "showlegend": legend,
        # Below a chart without axes; otherwise above it, clear of the axis title.
        "legend": {"orientation": "h", "x": 0, "yanchor": "top" if bare else "bottom", "y": -0.01 if bare else 1.0},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "dragmode": False,
        "hovermode": "closest",
    }
    figure.update_layout(**settings)
    return figure
