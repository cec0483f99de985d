"""Experiments, and the runs of one."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from podium.report.table import Row
from podium.runs.record import Budget
from podium.text import format_duration, plural
from podium.viewer.index import SORTS
from podium.viewer.progress import current
from podium.viewer.site import page_of, site_of, with_query
from podium.viewer.text import number_in_words
from podium.viewer.web import Pages, experiment_address, run_address

EXPERIMENTS_PER_PAGE = 100
RUNS_PER_PAGE = 200
FORM_BYTES = 10_000
STATUSES = ("finished", "running", "stopped", "failed", "missing")


@dataclass(frozen=True)
class Shown:
    """A run as a table shows it."""

    row: Row
    status: str
    address: str | None
    verified: str


def experiments(request: Request) -> Response:
    """All experiments."""
    site = site_of(request)
    sign = site.signs.of_all()
    found = site.index.experiments()
    words = request.query_params.get("find", "").lower().split()
    if words:
        found = [
            each for each in found if all(word in f"{each.name} {each.agent} {each.model}".lower() for word in words)
        ]
    find = request.query_params.get("find", "")
    pages = Pages(len(found), EXPERIMENTS_PER_PAGE, page_of(request), lambda n: with_query("/", find=find, page=n))
    return site.render(
        "experiments.html",
        live="/live",
        sign=sign,
        experiments=found[pages.offset : pages.last],
        find=find,
        runs=sum(each.runs for each in found),
        pages=pages,
    )


def experiment(request: Request) -> Response:
    """One experiment with its runs."""
    site = site_of(request)
    name = request.path_params["name"]
    sign = site.signs.of_experiment(name)
    listed = site.index.experiment(name)
    if listed is None:
        raise HTTPException(404, "There is no such experiment.")
    sort, status = request.query_params.get("sort", ""), request.query_params.get("status", "")
    sort, status = sort if sort in SORTS else "", status if status in STATUSES else ""
    here = experiment_address(name)
    total = listed.count(status) if status else listed.runs
    pages = Pages(total, RUNS_PER_PAGE, page_of(request), lambda n: with_query(here, sort=sort, status=status, page=n))
    rows, _ = site.index.rows(name, sort=sort, status=status, offset=pages.offset, limit=pages.size)
    verdicts = site.index.verdicts(name)
    return site.render(
        "experiment.html",
        live=None if listed.imported else f"/live{here}",
        sign=sign,
        experiment=listed,
        here=here,
        runs=[_shown(row, verdicts.get((name, row.task, row.seed))) for row in rows],
        sort=sort,
        status=status,
        statuses=[(each, listed.count(each)) for each in STATUSES],
        pages=pages,
        verified=sum(bool(verdict["passed"]) for verdict in verdicts.values()),
        unverified=sum(not verdict["passed"] for verdict in verdicts.values()),
        waiting=site.verifier.waiting_in(name),
        budget=_budget_words(Budget.model_validate((listed.plan or {}).get("budget", {}))),
    )


def _shown(row: Row, verdict: dict[str, object] | None) -> Shown:
    now, status = current(row)
    has_page = row.folder is not None and row.status != "missing"
    verified = "" if verdict is None else "verified" if verdict["passed"] else "not verified"
    return Shown(now, status, run_address(row.experiment, row.task, row.seed) if has_page else None, verified)


def _budget_words(budget: Budget) -> str:
    parts = [
        budget.time_s and f"{format_duration(budget.time_s)} working time",
        budget.wall_s and f"{format_duration(budget.wall_s)} by the clock",
        budget.steps and plural(budget.steps, "step"),
        budget.tokens and plural(budget.tokens, "token"),
        budget.cost and f"${number_in_words(budget.cost)}",
    ]
    return ", ".join(part for part in parts if part) or "no limit"


async def verify_experiment(request: Request) -> Response:
    """Verifies all runs of an experiment that have ended and are not known to be true."""
    site = site_of(request)
    name = request.path_params["name"]
    await check_form(request)
    verdicts = site.index.verdicts(name)
    for status in ("finished", "failed"):
        for row in site.index.rows(name, status=status)[0]:
            key = (name, row.task, row.seed)
            if row.folder is not None and not verdicts.get(key, {}).get("passed"):
                site.verifier.ask_for(key, row.folder)
    return RedirectResponse(experiment_address(name), 303)


async def check_form(request: Request) -> None:
    """Refuses a form that is not one of ours.

    Raises:
        HTTPException: it is not.
    """
    form = parse_qs((await request.body())[:FORM_BYTES].decode("utf-8", "replace"))
    if not site_of(request).token.fits(request, form.get("token", [""])[0]):
        raise HTTPException(403, "This form did not come from this page. Reload the page and try again.")
