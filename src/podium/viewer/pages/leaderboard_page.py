"""Pages of the leaderboard and of comparisons."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from podium.catalog.registry import suites
from podium.errors import UsageError
from podium.report.aggregate import plus_minus
from podium.report.comparison import settling_text
from podium.viewer.http_security import Pages
from podium.viewer.index.experiment_ranking import MEASURES, SUCCESS, Filters, RankedGroup, editions_of
from podium.viewer.page_site import page_of, site_of, with_query

PER_PAGE = 30
"""Groups of experiments per page."""
TASKS_SHOWN = 200


def leaderboard(request: Request) -> Response:
    """Render the leaderboard: groups of comparable experiments, best first."""
    site = site_of(request)
    change_token = site.change_tokens.of_all()
    query = request.query_params
    suite = query.get("suite", "")
    filters = Filters(
        suite=suite if suite in suites() else "",
        agent=query.get("agent", ""),
        model=query.get("model", ""),
        edition=query.get("edition", ""),
        verified=query.get("verified", "") == "1",
    )
    groups, everything = site.ranking.read(filters)
    kept = {"suite": filters.suite, "agent": filters.agent, "model": filters.model, "edition": filters.edition}
    kept |= {"verified": "1" if filters.verified else ""}
    pages = Pages(len(groups), PER_PAGE, page_of(request), lambda n: with_query("/leaderboard", **kept, page=n))
    return site.render(
        "leaderboard.html",
        live="/live",
        change_token=change_token,
        filters=filters,
        groups=[(group, _measures(group)) for group in groups[pages.offset : pages.last]],
        plus_minus=plus_minus,
        suites=suites(),
        agents=sorted({results.plan.agent for results in everything}),
        models=sorted({results.plan.model or "none" for results in everything}),
        editions=sorted({edition for results in everything for edition in editions_of(results)}),
        pages=pages,
    )


def _measures(group: RankedGroup) -> list[str]:
    """Return the measures that at least one member of a group has."""
    return [name for name in (*MEASURES, SUCCESS) if any(name in each.measures for _, each in group.members)]


def compare_page(request: Request) -> Response:
    """Render the comparison of two experiments."""
    site = site_of(request)
    names = [status.name for status in site.index.experiments() if status.error is None]
    first, second = request.query_params.get("a", ""), request.query_params.get("b", "")
    pad = request.query_params.get("pad", "") == "1"
    comparison, problem = None, None
    if first and second:
        one, other = site.index.results(first), site.index.results(second)
        if one is None or other is None:
            problem = "One of these experiments does not exist."
        elif first == second:
            problem = "Select two different experiments."
        else:
            try:
                comparison = site.ranking.compare(one, other, pad=pad)
            except UsageError as error:
                problem = str(error)
    return site.render(
        "compare.html",
        names=sorted(names),
        first=first,
        second=second,
        pad=pad,
        comparison=comparison,
        problem=problem,
        settling_text=settling_text,
        tasks_shown=TASKS_SHOWN,
    )
