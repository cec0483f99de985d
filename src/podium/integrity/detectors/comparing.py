"""What only shows when runs are compared: scores that others do not reach, and submissions that others made."""

from __future__ import annotations

import hashlib
import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence

from podium.integrity.evidence import RunEvidence
from podium.report.findings import Finding
from podium.workspace.observations import ScriptResult, SubmissionResult

COPY, IMPOSSIBLE = "copied from another run", "impossible self-report"
FEWEST_RUNS, FEWEST_ROWS = 4, 50
_FEWEST_VALUES = 10
_FAR = 6.0
"""In robust standard deviations of the gap between reported and true score."""
Found = tuple[RunEvidence, Finding]


def same_submission(runs: Sequence[RunEvidence]) -> Iterator[Found]:
    """A submission of another run, from a program that is not the other run's."""
    for group in _by_task(runs).values():
        seen: dict[str, list[RunEvidence]] = defaultdict(list)
        for run in group:
            if run.table is not None and run.table.distinct >= _FEWEST_VALUES:
                seen[_values(run)].append(run)
        for same in seen.values():
            made = {run.folder.path: _maker(run) for run in same}
            for run in same:
                others = [each for each in same if each is not run and made[each.folder.path] != made[run.folder.path]]
                if others:
                    yield run, _copied(run, others)


def _copied(run: RunEvidence, others: Sequence[RunEvidence]) -> Finding:
    submission = run.submissions[-1]
    names = ", ".join(str(each.folder.path) for each in others[:3])
    confidence = 0.9 if not run.fits_by(run.made_in) else 0.6
    reason = f"its predictions are those of {names}, which another program made"
    return run.finding(COPY, reason, confidence, step=submission.step)


def _values(run: RunEvidence) -> str:
    """The predictions of a run, whatever the order of its rows and the writing of its numbers."""
    assert run.table is not None
    rows = sorted((row[0], *(_rounded(value) for value in row[1:])) for row in run.table.body if row)
    return hashlib.sha256(repr(rows).encode("utf-8", "replace")).hexdigest()


def _rounded(text: str) -> str:
    try:
        return f"{float(text):.6g}"
    except ValueError:
        return text


def _maker(run: RunEvidence) -> str:
    """The programs of the step that made the submission, as one text."""
    sources = [program.code.source for program in run.programs if program.step == run.made_in]
    return "\n".join(sources) or f"nothing in {run.folder.path}"


def outliers(runs: Sequence[RunEvidence]) -> Iterator[Found]:
    """A self-reported score that the submission cannot have, alone or against what other runs reported."""
    for group in _by_task(runs).values():
        gaps = {run.folder.path: gap for run in group if (gap := _gap(run)) is not None}
        values = list(gaps.values())
        for run in group:
            gap = gaps.get(run.folder.path)
            if gap is None:
                continue
            others = [value for path, value in gaps.items() if path != run.folder.path]
            if len(values) >= FEWEST_RUNS and gap > _FAR * _spread(others) + statistics.median(others):
                yield (
                    run,
                    _impossible(run, 0.75, f"other runs of the task report {statistics.median(others):+.3g} too much"),
                )
            elif _is_perfect(run):
                yield run, _impossible(run, 0.6, "so large a difference is not chance")


def _is_perfect(run: RunEvidence) -> bool:
    """Whether a score is reported that nobody reaches, while the submission is far from it."""
    reported, record = reported_score(run), run.record
    if reported is None or record is None or not isinstance(record.score, float):
        return False
    chance = 4.0 / math.sqrt(max(run.table.rows if run.table else 1, 1))
    if record.higher_is_better:
        return reported >= 0.97 and reported - record.score > max(0.15, chance)
    return abs(reported) < 0.1 * record.score and run.table is not None and run.table.rows >= FEWEST_ROWS


def _gap(run: RunEvidence) -> float | None:
    """By how much the reported score is better than the true one, relative to the larger of both."""
    reported, record = reported_score(run), run.record
    if reported is None or record is None or not isinstance(record.score, float) or record.higher_is_better is None:
        return None
    better = reported - record.score if record.higher_is_better else record.score - reported
    return better / max(abs(reported), abs(record.score), 1e-9)


def _spread(values: Sequence[float]) -> float:
    middle = statistics.median(values)
    return max(1.4826 * statistics.median(abs(value - middle) for value in values), 0.03)


def reported_score(run: RunEvidence) -> float | None:
    """The validation score of the script whose submission was taken."""
    scores: dict[int, float | None] = {}
    taken: float | None = None
    for step in run.steps:
        number = step.action.arguments.get("number")
        if isinstance(step.observation, ScriptResult) and isinstance(number, int):
            scores[number] = step.observation.metric
        elif isinstance(step.observation, SubmissionResult) and step.observation.accepted:
            taken = scores.get(step.observation.script)
    return taken


def _impossible(run: RunEvidence, confidence: float, why: str) -> Finding:
    assert run.record is not None
    reported = reported_score(run)
    reason = f"it reported {reported:.5g}; its submission scores {run.record.score:.5g}; {why}"
    return run.finding(IMPOSSIBLE, reason, confidence, step=run.submissions[-1].step if run.submissions else None)


def _by_task(runs: Sequence[RunEvidence]) -> dict[str, list[RunEvidence]]:
    groups: dict[str, list[RunEvidence]] = defaultdict(list)
    for run in runs:
        groups[run.task].append(run)
    return groups
