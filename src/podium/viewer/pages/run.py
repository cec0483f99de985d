"""A run: what it came to, its score over time, its steps, its search tree."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from podium.catalog import find_listing
from podium.errors import PodiumError
from podium.report.curves import Point, read_curves
from podium.report.table import Entry, Row
from podium.runs.experiment import read_experiment
from podium.runs.record import Budget, Plan, RunFolder, RunRecord
from podium.text import format_duration
from podium.viewer import chart, tree
from podium.viewer.pages.lists import check_form
from podium.viewer.progress import current
from podium.viewer.site import page_of, site_of, with_query
from podium.viewer.steps import Place, StepLines
from podium.viewer.text import as_text, clip, number_in_words, short
from podium.viewer.web import Pages, run_address

STEPS_PER_PAGE = 100
LOG_CHARACTERS = 4_000


@dataclass(frozen=True)
class Part:
    """A part of the budget and how much of it is used."""

    name: str
    used: str
    limit: str | None
    share: float | None


@dataclass(frozen=True)
class Step:
    """A step as the timeline shows it."""

    number: int
    time: str
    action: str
    arguments: str
    observation: str
    seconds: float | None
    side_by_side: bool


def run(request: Request) -> Response:
    """The page of a run."""
    site = site_of(request)
    row, folder = site.find_run(request)
    key = (row.experiment, row.task, row.seed)
    sign = site.signs.of_run(key)
    here = run_address(*key)
    lines = site.lines(folder)
    now, status = current(row)
    plan = _plan(folder)
    step = request.query_params.get("step", "")
    if step.isdecimal() and 1 <= int(step) <= len(lines.steps):
        return RedirectResponse(f"{here}/steps/{int(step)}", 303)
    pages = Pages(len(lines.steps), STEPS_PER_PAGE, page_of(request), lambda n: with_query(here, page=n) + "#timeline")
    search = tree.read_search(folder, lines)
    return site.render(
        "run.html",
        live=f"/live{here}",
        sign=sign,
        here=here,
        row=now,
        status=status,
        record=_record(folder),
        task=find_listing(row.task),
        budget=_budget(now, plan.budget if plan else Budget()),
        verdict=site.index.verdicts(row.experiment).get(key),
        is_verifying=site.verifier.is_at(key),
        chart=_chart(row, lines, search, plan, here, now.working_s or 0.0),
        has_curve=folder.curve.exists(),
        picture=tree.draw(search) if search else None,
        steps=[_step(lines, number) for number in range(pages.first, pages.last + 1) if lines.steps],
        pages=pages,
        logs=_logs(folder),
        folder=folder.path,
        worker_log=_worker_log(folder) if row.status == "failed" else None,
    )


def tree_page(request: Request) -> Response:
    """The search tree, as a picture and as lists, now or after a step."""
    site = site_of(request)
    row, folder = site.find_run(request)
    key = (row.experiment, row.task, row.seed)
    sign = site.signs.of_run(key)
    lines = site.lines(folder)
    given = request.query_params.get("step", "")
    step = int(given) if given.isdecimal() and 1 <= int(given) <= len(lines.steps) else None
    search = tree.read_search(folder, lines, step)
    if search is None:
        raise HTTPException(404, "The agent of this run keeps no search tree, or has not begun one.")
    return site.render(
        "tree.html",
        live=f"/live{run_address(*key)}" if step is None else None,
        sign=sign,
        here=run_address(*key),
        row=row,
        step=step,
        steps=len(lines.steps),
        picture=tree.draw(search),
        search=search,
    )


def node(request: Request) -> Response:
    """One script of the search: plan, script, output."""
    site = site_of(request)
    row, folder = site.find_run(request)
    lines = site.lines(folder)
    search = tree.read_search(folder, lines)
    number = request.path_params["number"]
    if search is None or not 0 <= number < len(search.tree):
        raise HTTPException(404, "There is no such script.")
    found = search.tree[number]
    result = found.result
    return site.render(
        "node.html",
        here=run_address(row.experiment, row.task, row.seed),
        row=row,
        node=found,
        kind=search.kind(found),
        is_submitted=search.submitted == number,
        is_best=search.tree.best is not None and search.tree.best.number == number,
        plan=clip(found.plan),
        script=clip(found.script),
        output=clip(result.output) if result else None,
        children=search.tree.children(number),
        steps=[n for n, place in enumerate(lines.steps, 1) if place.number == number],
        count=len(search.tree),
    )


async def verify_run(request: Request) -> Response:
    """Verifies a run."""
    site = site_of(request)
    row, folder = site.find_run(request)
    await check_form(request)
    key = (row.experiment, row.task, row.seed)
    site.verifier.ask_for(key, folder.path)
    return RedirectResponse(f"{run_address(*key)}#verified", 303)


def _record(folder: RunFolder) -> RunRecord | None:
    try:
        return folder.read_record()
    except PodiumError:
        return None


def _plan(folder: RunFolder) -> Plan | None:
    try:
        return read_experiment(folder.path.parent.parent).plan
    except PodiumError:
        return None


def _budget(row: Row, budget: Budget) -> list[Part]:
    def part(name: str, used: float | None, limit: float | None, words: Any = number_in_words) -> Part | None:
        if limit is None and not used:
            return None
        share = None if not limit else min(1.0, (used or 0) / limit)
        return Part(name, words(used or 0), None if limit is None else words(limit), share)

    parts = [
        part("Working time", row.working_s, budget.time_s, format_duration),
        part("Time by the clock", row.wall_s, budget.wall_s, format_duration),
        part("Waited for cores", row.waited_s, None, format_duration),
        part("Steps", row.steps, budget.steps),
        part("Executions", row.executions, None),
        part("Tokens", row.tokens, budget.tokens),
        part("Cost in dollars", row.cost, budget.cost),
    ]
    return [each for each in parts if each is not None]


def _chart(
    row: Row, lines: StepLines, search: tree.Search | None, plan: Plan | None, here: str, end_s: float
) -> chart.Chart | None:
    limits = chart.limits_of(row, plan)
    higher = row.higher_is_better
    if higher is None:
        higher = search.tree.higher_is_better if search else True
    points = _points(row)
    if not points and row.score is not None:
        points = [Point(end_s, 0, 0, row.valid, row.score, row.medal, row.percentile)]
    return chart.draw(points, _tried(lines, search, here), limits, higher_is_better=higher, end_s=end_s)


def _points(row: Row) -> list[Point]:
    assert row.folder is not None
    entry = Entry(row.experiment, row.folder, row.agent, row.model, (row.task,), 1, None, (row,))
    try:
        return [point for curve in read_curves(entry) for point in curve.points]
    except PodiumError:
        return []


def _tried(lines: StepLines, search: tree.Search | None, here: str) -> list[chart.Tried]:
    """When each script of a search came back, and with what score."""
    if search is None:
        return []
    when: dict[int, float] = {}
    for place in lines.steps:
        if place.action == "try_script" and place.number is not None and place.working_s is not None:
            when.setdefault(place.number, place.working_s)
    return [
        chart.Tried(
            when[each.number],
            each.metric,
            f"script {each.number} measures {each.metric:.5g} itself",
            f"{here}/tree/{each.number}",
        )
        for each in search.tree.good
        if each.number in when and each.metric is not None and math.isfinite(each.metric)
    ]


def _step(lines: StepLines, number: int) -> Step:
    place: Place = lines.steps[number - 1]
    try:
        line = lines.read(place)
    except PodiumError as error:
        return Step(number, place.time, place.action, "", str(error), None, False)
    observation = line.get("observation", "")
    if "too_long" in line:
        observation = f"[this step's line is {line['too_long']:,} bytes long]"
    elif isinstance(observation, dict):
        observation = str(observation.get("head", ""))
    return Step(
        number,
        place.time,
        short(str(line.get("action", "")), 60),
        _arguments(line.get("arguments")),
        short(_telling(str(observation))),
        line.get("seconds"),
        side_by_side=line.get("of", 1) > 1,
    )


def _arguments(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        return ""
    return short(", ".join(f"{name}: {short(as_text(value), 60)}" for name, value in arguments.items()), 140)


def _telling(observation: str) -> str:
    """Of a script's result, which is JSON that may be cut, the numbers; else the text itself."""
    if not observation.startswith('{"exit_code":'):
        return observation
    facts = dict(re.findall(r'"(exit_code|stopped|seconds|metric|valid)": ("[^"]*"|[^,}]+)', observation))
    return ", ".join(f"{name} {value}" for name, value in facts.items()) or observation


def _logs(folder: RunFolder) -> list[tuple[str, int]]:
    try:
        return [(path.name, path.stat().st_size) for path in sorted(folder.logs.glob("*.eval"))]
    except OSError:
        return []


def _worker_log(folder: RunFolder) -> str | None:
    """How the log of a failed run ends."""
    if folder.output.is_symlink() or not folder.output.is_file():
        return None
    with folder.output.open("rb") as file:
        file.seek(max(0, folder.output.stat().st_size - LOG_CHARACTERS))
        return file.read(LOG_CHARACTERS).decode("utf-8", "replace")
