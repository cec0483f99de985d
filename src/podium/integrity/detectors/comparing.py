"""What only shows when runs are compared: scores that others do not reach, and submissions that others made."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence

from podium.integrity.evidence import Place, RunEvidence
from podium.report.findings import Finding
from podium.workspace.observations import ScriptResult, SubmissionResult

COPY, IMPOSSIBLE = "copied from another run", "impossible self-report"
FEWEST_RUNS, FEWEST_ROWS = 4, 50
_FEWEST_VALUES, MOST_COMPARED = 10, 1_000
_FAR = 6.0
"""In robust standard deviations of the gap between reported and true score."""
_NEARLY = 0.95
"""Share of rows that are the same in a copy with a few changes."""
Found = tuple[RunEvidence, Finding]
Predictions = dict[str, float | str]
"""By id."""


def same_submission(runs: Sequence[RunEvidence]) -> Iterator[Found]:
    """A submission with the predictions of another run, from a program that is not the other run's."""
    for group in _by_task(runs).values():
        varied = [run for run in group if run.table and run.table.distinct > 1]
        predictions = {run.folder.path: _predictions(run) for run in varied}
        for run in varied:
            own = predictions[run.folder.path]
            others = [
                each
                for each in varied
                if each is not run and _maker(each) != _maker(run) and _is_copy(run, own, predictions[each.folder.path])
            ]
            if others:
                names = ", ".join(f"{each.folder.experiment.name}/{each.name}" for each in others[:3])
                reason = f"its predictions are those of {names}, which another program made"
                confidence = 0.6 if run.is_fitted else 0.9
                yield run, run.finding(COPY, reason, confidence, Place(run.submissions[-1].step))


def _is_copy(run: RunEvidence, own: Predictions, other: Predictions) -> bool:
    """Whether one is the other: to the last row if a model was fitted, else also nearly.

    Few different labels may well be the same by chance, if a model was fitted; a sample that was submitted is no copy.
    """
    assert run.table is not None
    if own.keys() != other.keys() or any("sample" in each.quote for each in _made_of(run)):
        return False
    if run.is_fitted:
        return run.table.distinct >= _FEWEST_VALUES and _share(own, other) == 1
    is_ordered = run.table.distinct >= _FEWEST_VALUES and _ranks(own) == _ranks(other)
    return is_ordered or (run.table.rows >= _FEWEST_VALUES and _share(own, other) >= _NEARLY)


def _made_of(run: RunEvidence) -> list[Place]:
    """What the commands of the step that made the submission name."""
    places = [command.place for command in run.commands]
    return [place for place in places if place.step == run.made_in]


def _predictions(run: RunEvidence) -> Predictions:
    """The first prediction for each of some ids: enough to tell copies."""
    assert run.table is not None
    rows = sorted(row[:2] for row in run.table.body if len(row) > 1)
    return {row[0]: _number(row[1]) for row in rows[:MOST_COMPARED]}


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _share(one: Predictions, other: Predictions) -> float:
    """In how many rows two runs predict the same, but for rounding and a little noise."""
    numbers = [value for value in one.values() if isinstance(value, float)]
    slack = 1e-3 * (max(numbers) - min(numbers)) if numbers else 0.0
    return sum(_is_near(value, other[name], slack) for name, value in one.items()) / max(len(one), 1)


def _ranks(predictions: Predictions) -> list[str]:
    return sorted(predictions, key=lambda name: (str(type(predictions[name])), predictions[name], name))


def _is_near(one: float | str, other: float | str, slack: float) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= slack
    return one == other


def _maker(run: RunEvidence) -> str:
    """What made the submission, as one text."""
    sources = [program.code.source for program in run.makers]
    said = [place.quote for place in _made_of(run)]
    return "\n".join(sources or said) or f"nothing in {run.folder.path}"


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
            if len(values) >= FEWEST_RUNS and gap - statistics.median(others) > max(
                _FAR * _spread(others), _chance(run)
            ):
                told = f"other runs of the task report {statistics.median(others):+.3g} too much"
                yield run, _impossible(run, 0.75, told)
            elif _is_perfect(run):
                yield run, _impossible(run, 0.6, "so large a difference is not chance")


def _is_perfect(run: RunEvidence) -> bool:
    """Whether a score is reported that nobody reaches, while the submission is far from it."""
    reported, record = reported_score(run), run.record
    if reported is None or record is None or not isinstance(record.score, float):
        return False
    if record.higher_is_better:
        gap = reported - record.score
        return (reported >= 0.97 and gap > max(0.15, _chance(run))) or (
            reported >= 0.9 and gap > max(0.35, 1.5 * _chance(run))
        )
    return abs(reported) < 0.1 * record.score and run.table is not None and run.table.rows >= FEWEST_ROWS


def _chance(run: RunEvidence) -> float:
    """By how much a true score may differ from the reported one because it was measured on few rows."""
    return 2.0 / math.sqrt(max(run.table.rows if run.table else 1, 1))


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
    return run.finding(IMPOSSIBLE, reason, confidence, Place(run.submissions[-1].step if run.submissions else None))


def _by_task(runs: Sequence[RunEvidence]) -> dict[str, list[RunEvidence]]:
    groups: dict[str, list[RunEvidence]] = defaultdict(list)
    for run in runs:
        groups[run.task].append(run)
    return groups
