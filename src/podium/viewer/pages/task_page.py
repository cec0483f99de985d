"""Pages of tasks: description, leaderboard, score distribution and all runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from podium.catalog.registry import find_listing
from podium.report.results import Results, Row, task_facts
from podium.report.score_curves import read_curve
from podium.runs.plan.trusted_plans import own_data_dir
from podium.task import Edition
from podium.viewer.drawing import score_chart
from podium.viewer.drawing.brief_html import render_markdown
from podium.viewer.drawing.score_distribution import Distribution, RunScore, draw_distribution
from podium.viewer.drawing.task_card import TaskCard, read_card
from podium.viewer.http_security import run_address
from podium.viewer.page_site import Site, site_of
from podium.viewer.shown_text import number_in_words

MAX_RUNS = 2_000
SHOWN_RUNS = 100
DRAWN_DOTS = 400
DRAWN_CURVES = 40
COLOURS = 8
GROUPS = ("experiment", "agent", "model")


@dataclass(frozen=True)
class RankedRun:
    """Run with its rank among comparable runs."""

    place: int | None
    """Rank, shared by ties; None without a score."""
    row: Row
    group: str
    colour: str


@dataclass(frozen=True)
class Standings:
    """Runs of one form of a task: the same edition, and all on real data or all on a miniature."""

    edition: str | None
    miniature: bool
    standings: list[RankedRun]

    @property
    def name(self) -> str:
        data = "generated data" if self.standings[0].row.task.startswith("forge-") else "real data"
        return f"edition {self.edition}, {'fabricated miniature' if self.miniature else data}"


def tasks(request: Request) -> Response:
    """Render the list of tasks with runs."""
    site = site_of(request)
    found = [(counts, find_listing(counts.task), task_facts(counts.task)) for counts in site.index.task_counts()]
    return site.render("tasks.html", live="/live", change_token=site.change_tokens.of_all(), tasks=found)


def task(request: Request) -> Response:
    """Render a task with all its runs."""
    site = site_of(request)
    change_token = site.change_tokens.of_all()
    task_id, query = request.path_params["task"], request.query_params
    rows = site.index.task_rows(task_id, MAX_RUNS)
    grouped_by = query.get("group", "") if query.get("group", "") in GROUPS else "experiment"
    forms = _standings(rows, _grouping(grouped_by))
    chosen = _chosen(forms, query.get("form", ""))
    edition: Edition = "fixed" if chosen is not None and chosen.edition == "fixed" else "v1"
    miniature = chosen is not None and chosen.miniature
    card = read_card(task_id, edition if rows else None, _data_dir(site, rows), miniature=miniature)
    if card is None and not rows:
        raise HTTPException(404, "This task does not exist.")
    shown = chosen.standings if chosen else []
    return site.render(
        "task.html",
        live="/live",
        change_token=change_token,
        task_id=task_id,
        facts=task_facts(task_id),
        card=card,
        brief=render_markdown(card.brief) if card and card.brief else None,
        forms=forms,
        chosen=chosen,
        shown=shown[:SHOWN_RUNS],
        groups=_legend(shown),
        grouped_by=grouped_by,
        group_names=GROUPS,
        picture=_picture(card, shown),
        curves=_curves(card, shown),
    )


def _grouping(by: str) -> Callable[[Row], str]:
    """Return the function that gives the group of a run."""
    match by:
        case "agent":
            return lambda row: row.agent
        case "model":
            return lambda row: row.model or "No model"
    return lambda row: row.experiment


def _standings(rows: Sequence[Row], group_of: Callable[[Row], str]) -> list[Standings]:
    """Group runs by the form of their task: the form with most runs first, the best run first in each."""
    forms: dict[tuple[str | None, bool], list[Row]] = {}
    for row in rows:
        forms.setdefault((row.edition, row.miniature), []).append(row)
    ordered = sorted(forms.items(), key=lambda item: (-len(item[1]), str(item[0])))
    return [Standings(*form, _placed(found, group_of)) for form, found in ordered]


def _placed(rows: Sequence[Row], group_of: Callable[[Row], str]) -> list[RankedRun]:
    def badness(row: Row) -> float:
        assert row.score is not None
        return -row.score if row.higher_is_better else row.score

    scored = sorted(
        (row for row in rows if row.valid and row.score is not None), key=lambda row: (badness(row), row.key)
    )
    places: dict[float, int] = {}
    for place, row in enumerate(scored, 1):
        places.setdefault(badness(row), place)
    rest = [row for row in rows if not (row.valid and row.score is not None)]
    names = list(dict.fromkeys(group_of(row) for row in [*scored, *rest]))
    colours = {name: f"c{number % COLOURS}" for number, name in enumerate(names)}

    def standing(row: Row, place: int | None) -> RankedRun:
        return RankedRun(place, row, group_of(row), colours[group_of(row)])

    return [*(standing(row, places[badness(row)]) for row in scored), *(standing(row, None) for row in rest)]


def _chosen(forms: Sequence[Standings], name: str) -> Standings | None:
    return next((form for form in forms if form.name == name), forms[0] if forms else None)


def _legend(standings: Sequence[RankedRun]) -> list[tuple[str, str]]:
    return list(islice({each.group: each.colour for each in standings}.items(), 2 * COLOURS))


def _data_dir(site: Site, rows: Sequence[Row]) -> Path | None:
    """Return the data folder of the newest run, if its plan was made on this machine."""
    found: Results | None = site.index.results(rows[-1].experiment) if rows else None
    return own_data_dir(found.plan) if found else None


def _picture(card: TaskCard | None, standings: Sequence[RankedRun]) -> Distribution | None:
    if card is None or card.board is None:
        return None
    runs = [
        RunScore(each.row.score, _words(each), _address(each.row), each.colour)
        for each in standings
        if each.place is not None and each.row.score is not None
    ]
    return draw_distribution(card.board, runs[:DRAWN_DOTS])


def _words(each: RankedRun) -> str:
    percentile = "" if each.row.percentile is None else f", percentile {each.row.percentile:.0f}"
    return f"{each.row.experiment}, seed {each.row.seed}: {number_in_words(each.row.score)}{percentile}"


def _address(row: Row) -> str | None:
    return None if row.folder is None else run_address(row.key)


def _curves(card: TaskCard | None, standings: Sequence[RankedRun]) -> score_chart.Chart | None:
    """Draw the graded submissions of the best runs over time."""
    found = ((each, read_curve(each.row)) for each in standings if each.row.folder is not None)
    known = islice(((each, curve) for each, curve in found if curve and curve.points), DRAWN_CURVES)
    lines = [score_chart.RunLine(_words(each), each.colour, curve.points) for each, curve in known]
    if not lines or not standings:
        return None
    first = standings[0].row
    higher = first.higher_is_better if first.higher_is_better is not None else True
    metric = card.task.metric.title if card else "score"
    references = dict(card.thresholds) if card else {}
    if card and card.baseline:
        references["baseline"] = card.baseline.score
    return score_chart.draw_runs(lines, references, higher_is_better=higher, metric=metric)
