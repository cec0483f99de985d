"""Pages of all experiments, and of one experiment with its runs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from podium.report.aggregate import plus_minus
from podium.report.results import Row
from podium.text import format_duration, plural
from podium.viewer.http_security import Pages, experiment_address, run_address
from podium.viewer.index.experiment_index import SORTS, StoredVerification
from podium.viewer.index.find_experiments import ExperimentStatus
from podium.viewer.index.run_progress import current
from podium.viewer.page_site import check_form, page_of, site_of, with_query
from podium.viewer.shown_text import number_in_words
from podium.workspace.budget import Budget

EXPERIMENTS_PER_PAGE = 100
RUNS_PER_PAGE = 200
GROUPS = ("agent", "model")
STATUSES = ("finished", "running", "interrupted", "stopped", "failed", "unreadable", "missing")


@dataclass(frozen=True)
class ListedRun:
    """Run as a table shows it."""

    row: Row
    status: str
    address: str | None
    verified: str


def experiments(request: Request) -> Response:
    """Render the list of experiments."""
    site = site_of(request)
    change_token = site.change_tokens.of_all()
    query = request.query_params
    find, by = query.get("find", ""), query.get("group", "")
    by = by if by in GROUPS else ""
    matches = [status for status in site.index.experiments() if _matches(status, find)]
    if by:
        matches.sort(key=lambda status: _group(status, by))  # within a group the newest stays first
    pages = Pages(
        len(matches), EXPERIMENTS_PER_PAGE, page_of(request), lambda n: with_query("/", find=find, group=by, page=n)
    )
    shown = matches[pages.offset : pages.last]
    return site.render(
        "experiments.html",
        live="/live",
        change_token=change_token,
        groups=[(name, list(members)) for name, members in groupby(shown, lambda status: _group(status, by))],
        find=find,
        grouped_by=by,
        group_names=GROUPS,
        runs=sum(status.runs for status in matches),
        pages=pages,
    )


def _matches(status: ExperimentStatus, find: str) -> bool:
    """Return whether the name, agent and model of an experiment together contain every search word."""
    plan = status.experiment.plan if status.experiment else None
    text = " ".join([status.name, *([plan.agent, plan.model or ""] if plan else [])]).lower()
    return all(word in text for word in find.lower().split())


def _group(status: ExperimentStatus, by: str) -> str:
    """Return the group of an experiment in the list, empty without grouping."""
    if not by:
        return ""
    if status.experiment is None:
        return "Unreadable"
    plan = status.experiment.plan
    return plan.agent if by == "agent" else plan.model or "No model"


def experiment(request: Request) -> Response:
    """Render an experiment with its runs."""
    site = site_of(request)
    name = request.path_params["name"]
    change_token = site.change_tokens.of_experiment(name)
    found = site.index.experiment(name)
    if found is None:
        raise HTTPException(404, "This experiment does not exist.")
    sort, status = request.query_params.get("sort", ""), request.query_params.get("status", "")
    sort, status = sort if sort in SORTS else "", status if status in STATUSES else ""
    here = experiment_address(name)
    total = found.count(status) if status else found.runs
    pages = Pages(total, RUNS_PER_PAGE, page_of(request), lambda n: with_query(here, sort=sort, status=status, page=n))
    rows, _ = site.index.rows(name, sort=sort, status=status, offset=pages.offset, limit=pages.size)
    verifications = site.index.verifications(name)
    return site.render(
        "experiment.html",
        live=None if found.imported else f"/live{here}",
        change_token=change_token,
        status=found,
        here=here,
        runs=[_listed_run(row, verifications.get(row.key)) for row in rows],
        sort=sort,
        only=status,
        statuses=[(each, found.count(each)) for each in STATUSES],
        pages=pages,
        verified=sum(each.passed for each in verifications.values()),
        unverified=sum(not each.passed for each in verifications.values()),
        waiting=site.verifier.waiting_in(name),
        budget=_budget_words(found.experiment.plan.budget) if found.experiment else "",
        overview=site.overviews.read(name),
        plus_minus=plus_minus,
    )


def _listed_run(row: Row, verification: StoredVerification | None) -> ListedRun:
    now, status = current(row)
    has_page = row.folder is not None and row.status != "missing"
    verified = "" if verification is None else "verified" if verification.passed else "failed"
    return ListedRun(now, status, run_address(row.key) if has_page else None, verified)


def _budget_words(budget: Budget) -> str:
    parts = [
        budget.time_s and f"{format_duration(budget.time_s)} working time",
        budget.wall_s and f"{format_duration(budget.wall_s)} wall-clock time",
        budget.steps and plural(budget.steps, "step"),
        budget.tokens and plural(budget.tokens, "token"),
        budget.cost and f"${number_in_words(budget.cost)}",
    ]
    return ", ".join(part for part in parts if part) or "no limit"


async def verify_experiment(request: Request) -> Response:
    """Queue all ended runs of an experiment that are not verified yet."""
    site = site_of(request)
    name = request.path_params["name"]
    await check_form(request)
    verified = {key for key, found in site.index.verifications(name).items() if found.passed}
    for status in ("finished", "failed"):
        for row in site.index.rows(name, status=status)[0]:
            if row.folder is not None and row.key not in verified:
                site.verifier.request(row.key, row.folder)
    return RedirectResponse(experiment_address(name), 303)
