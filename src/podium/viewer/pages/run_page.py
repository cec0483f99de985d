"""Pages of a run: result, score over time, steps, search tree and scripts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from podium.catalog.registry import find_listing
from podium.errors import RecordError
from podium.grading.grade import Grade
from podium.report.failure_causes import RunFailureMode, read_failures
from podium.report.results import Row
from podium.report.score_curves import RunCurve, read_curve
from podium.report.stored_findings import Finding, read_findings
from podium.runs.attempt.progress_files import read_progress
from podium.runs.plan.trusted_plans import own_data_dir
from podium.runs.records import CurvePoint, RunRecord
from podium.runs.run_folder import RunFolder
from podium.safefs.open_nofollow import open_regular
from podium.text import format_duration
from podium.viewer.drawing import score_chart, tree_drawing
from podium.viewer.drawing.code_view import compare_scripts, show_code
from podium.viewer.http_security import Pages, run_address
from podium.viewer.index.run_progress import current
from podium.viewer.page_site import FoundRun, check_form, page_of, site_of, with_query
from podium.viewer.pages.downloads import find_logs, saved_files
from podium.viewer.shown_text import clip, number_in_words, short
from podium.workspace.budget import Budget, Usage
from podium.workspace.journal.journal import JournalFollower
from podium.workspace.journal.observations import Interruption, Refusal
from podium.workspace.step_summary import Tone, summarize_step

STEPS_PER_PAGE = 100
LOG_BYTES = 4_000
MAX_FINDINGS = 100
ENDINGS = {
    "the agent": "ended by the agent",
    "a person": "stopped by a person",
    "working time": "working time used up",
    "time": "wall-clock time used up",
    "steps": "step budget used up",
    "tokens": "token budget used up",
    "cost": "cost budget used up",
}
"""Texts for the causes that end a run."""
CHECK_TITLES = {
    "verifying": "Verification",
    "journal": "The journal is complete and its hash chain is intact",
    "folder": "The folder belongs to this run",
    "plan": "The run follows its plan",
    "record": "The record matches the journal",
    "order": "The events are in a possible order",
    "ending": "The run ended as recorded",
    "snapshots": "The snapshots match the journal",
    "texts": "Stored texts match the journal",
    "data": "The data is the same as during the run",
    "grade": "Grading again gives the same result",
    "curve": "Grading earlier submissions again gives the same results",
    "held-out": "Scoring on held-out rows again gives the same results",
}
"""Statements that the checks of a verification confirm."""


@dataclass(frozen=True)
class BudgetPart:
    """Part of the budget and its usage."""

    name: str
    used: str
    limit: str | None
    share: float | None


@dataclass(frozen=True)
class TimelineStep:
    """Step as the timeline shows it."""

    number: int
    time: str = ""
    action: str = ""
    result: str = ""
    verdict: Tone = "neutral"
    note: str = ""
    """Remark about an unusual step."""
    kinds: tuple[str, ...] = ()
    """Kinds of the integrity findings about the step."""
    seconds: float | None = None


def run(request: Request) -> Response:
    """Render the page of a run."""
    site = site_of(request)
    found = site.find_run(request)
    row, folder, key = found.row, found.folder, found.row.key
    change_token = site.change_tokens.of_run(key)
    here = run_address(key)
    journal, journal_error = site.follow(folder)
    now, status = current(row)
    step = request.query_params.get("step", "")
    if step.isdecimal() and 1 <= int(step) <= len(journal.steps):
        return RedirectResponse(f"{here}/steps/{int(step)}", 303)
    findings = _findings(found)
    kinds = _kinds_by_step(findings)
    only_marked = "marked" in request.query_params
    numbers = (
        [n for n in sorted(kinds) if 1 <= n <= len(journal.steps)] if only_marked else range(1, len(journal.steps) + 1)
    )
    marked = 1 if only_marked else None
    pages = Pages(
        len(numbers), STEPS_PER_PAGE, page_of(request), lambda n: with_query(here, marked=marked, page=n) + "#timeline"
    )
    search = tree_drawing.read_search(folder, journal)
    curve = read_curve(row)
    return site.render(
        "run.html",
        live=f"/live{here}",
        change_token=change_token,
        here=here,
        row=now,
        status=status,
        ending=ENDINGS.get(row.ended_by or "", row.ended_by),
        check_titles=CHECK_TITLES,
        progress=read_progress(folder) if status == "running" else None,
        record=_record(folder),
        task=find_listing(row.task),
        budget=_budget(now, found.experiment.plan.budget),
        verification=site.index.verifications(row.experiment).get(key),
        is_verifying=site.verifier.is_waiting(key),
        chart=_chart(found, journal, search, curve, now.working_s or 0.0),
        curve=curve,
        picture=tree_drawing.draw(search) if search else None,
        submitted=search.submitted if search else None,
        steps=[_step(journal, n, kinds.get(n, ())) for n in numbers[pages.offset : pages.last]],
        steps_in_all=len(journal.steps),
        only_marked=only_marked,
        journal_error=journal_error,
        pages=pages,
        findings=findings,
        mode=_mode(found),
        files=saved_files(folder),
        has_transcript=bool(find_logs(folder)) and row.model is not None,
        folder=folder.path,
        worker_log=_worker_log(folder) if row.status == "failed" else None,
    )


def tree_page(request: Request) -> Response:
    """Render the search tree as a picture and a list, by default the current one."""
    site = site_of(request)
    row, folder, _ = site.find_run(request)
    change_token = site.change_tokens.of_run(row.key)
    journal = site.follow(folder).journal
    given = request.query_params.get("step", "")
    step = int(given) if given.isdecimal() and 1 <= int(given) <= len(journal.steps) else None
    search = tree_drawing.read_search(folder, journal, step)
    if search is None:
        raise HTTPException(404, "This run has no search tree.")
    here = run_address(row.key)
    return site.render(
        "tree.html",
        live=f"/live{here}" if step is None else None,
        change_token=change_token,
        here=here,
        row=row,
        step=step,
        steps=len(journal.steps),
        picture=tree_drawing.draw(search),
        search=search,
    )


def node(request: Request) -> Response:
    """Render a script of the search: plan, diff, code and output."""
    site = site_of(request)
    row, folder, _ = site.find_run(request)
    journal = site.follow(folder).journal
    search = tree_drawing.read_search(folder, journal)
    number = request.path_params["number"]
    if search is None or not 0 <= number < len(search.tree):
        raise HTTPException(404, "This script does not exist.")
    found = search.tree[number]
    parent = next((each for each in found.parents if 0 <= each < number), None)
    return site.render(
        "node.html",
        here=run_address(row.key),
        row=row,
        node=found,
        kind=search.kind(found),
        is_submitted=search.submitted == number,
        is_best=search.tree.best is not None and search.tree.best.number == number,
        plan=clip(found.plan),
        script=show_code(found.script),
        parent=parent,
        changes=None if parent is None else compare_scripts(search.tree[parent].script, found.script),
        output=clip(found.result.output) if found.result else None,
        children=search.tree.children(number),
        steps=[n for n, step in enumerate(journal.steps, 1) if step.script == number],
        count=len(search.tree),
    )


async def verify_run(request: Request) -> Response:
    """Queue a run for verification."""
    site = site_of(request)
    row, folder, _ = site.find_run(request)
    await check_form(request)
    site.verifier.request(row.key, folder.path)
    return RedirectResponse(f"{run_address(row.key)}#verified", 303)


def _findings(found: FoundRun) -> Sequence[Finding]:
    """Return the integrity findings about a run, empty if it was not scanned."""
    known = read_findings(found.experiment.folder)
    return known.of_run(found.row.task, found.row.seed)[:MAX_FINDINGS] if known else ()


def _kinds_by_step(findings: Sequence[Finding]) -> dict[int, tuple[str, ...]]:
    found: dict[int, dict[str, None]] = {}
    for each in findings:
        if each.step is not None:
            found.setdefault(each.step, {})[each.kind] = None
    return {step: tuple(kinds) for step, kinds in found.items()}


def _mode(found: FoundRun) -> RunFailureMode | None:
    """Return the failure mode of a run, or None if it was not classified."""
    known = read_failures(found.experiment.folder)
    runs = known.runs if known else ()
    return next((each for each in runs if (each.task, each.seed) == (found.row.task, found.row.seed)), None)


def _record(folder: RunFolder) -> RunRecord | None:
    try:
        return folder.read_record()
    except RecordError:
        return None  # its row shows the error


def _budget(row: Row, budget: Budget) -> list[BudgetPart]:
    def part(name: str, used: float | None, limit: float | None, words: Any = number_in_words) -> BudgetPart | None:
        if limit is None and not used:
            return None
        share = None if not limit else min(1.0, (used or 0) / limit)
        return BudgetPart(name, words(used or 0), None if limit is None else words(limit), share)

    parts = [
        part("Working time", row.working_s, budget.time_s, format_duration),
        part("Wall-clock time", row.wall_s, budget.wall_s, format_duration),
        part("Waiting for cores", row.waited_s, None, format_duration),
        part("Steps", row.steps, budget.steps),
        part("Executions", row.executions, None),
        part("Tokens", row.tokens, budget.tokens),
        part("Cost (USD)", row.cost, budget.cost),
    ]
    return [each for each in parts if each is not None]


def _chart(
    found: FoundRun, journal: JournalFollower, search: tree_drawing.Search | None, curve: RunCurve | None, end_s: float
) -> score_chart.Chart | None:
    row = found.row
    higher = row.higher_is_better
    if higher is None:
        higher = search.tree.higher_is_better if search else True
    points = curve.points if curve else ()
    if not points and row.score is not None:
        grade = Grade(row.task, "v1", valid=row.valid, score=row.score, medal=row.medal)
        points = (CurvePoint(line=0, submission="", usage=Usage(working_s=end_s), grade=grade),)
    references = score_chart.references_of(row.task, row.edition, own_data_dir(found.experiment.plan), row.miniature)
    scores = _script_scores(journal, search, run_address(row.key))
    task = find_listing(row.task)
    metric = task.metric if task else "score"
    return score_chart.draw(points, scores, references, higher_is_better=higher, end_s=end_s, metric=metric)


def _script_scores(
    journal: JournalFollower, search: tree_drawing.Search | None, here: str
) -> list[score_chart.ScriptScore]:
    """Return the time and the validation score of each good script of a search."""
    when: dict[int, float] = {}
    for step in journal.steps if search else ():
        if step.action == "try_script" and step.script is not None:
            when.setdefault(step.script, step.working_s)
    return [
        score_chart.ScriptScore(
            when[each.number],
            each.metric,
            f"Script {each.number}: validation score {each.metric:.5g}",
            f"{here}/tree/{each.number}",
        )
        for each in (search.tree.good if search else ())
        if each.number in when and each.metric is not None
    ]


def _step(journal: JournalFollower, number: int, kinds: tuple[str, ...]) -> TimelineStep:
    try:
        step = journal.step(number)
    except RecordError as error:
        return TimelineStep(number, result=str(error), verdict="bad")
    words = summarize_step(step)
    note = "parallel" if step.count > 1 else ""
    if isinstance(step.observation, Refusal | Interruption):
        note = "refused" if isinstance(step.observation, Refusal) else "interrupted"
    return TimelineStep(
        number, step.time, short(words.action), short(words.result, 240), words.verdict, note, kinds, step.seconds
    )


def _worker_log(folder: RunFolder) -> str | None:
    """Return the end of a failed run's log."""
    try:
        descriptor = open_regular(folder.output, top=folder.experiment)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        file.seek(max(0, os.fstat(descriptor).st_size - LOG_BYTES))
        return file.read(LOG_BYTES).decode("utf-8", "replace")
