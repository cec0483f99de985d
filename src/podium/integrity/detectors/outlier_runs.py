"""Outlier runs: scores and submissions that are suspicious in comparison with other runs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence

from podium.integrity.scan_evidence import EvidencePlace, Hit, RunEvidence
from podium.integrity.similarity.compare_scripts import MIN_SIMILARITY, find_similar
from podium.integrity.similarity.documents import Document
from podium.report.stored_findings import Finding
from podium.workspace.journal.observations import ScriptResult, SubmissionResult

COPY, IMPOSSIBLE = "copied from another run", "impossible self-report"
MIN_RUNS, MIN_ROWS = 4, 50
_MIN_VALUES, MAX_COMPARED = 10, 1_000
_MIN_DEVIATIONS = 6.0
"""Smallest gap between reported and true score that is suspicious, in robust standard deviations."""
_MIN_COPY_SHARE = 0.95
"""Smallest share of equal rows in a copy with a few changes."""
FoundInRun = tuple[RunEvidence, Finding]
PredictionById = dict[str, float | str]
"""First prediction of each row, by id."""


def same_submission(runs: Sequence[RunEvidence]) -> Iterator[FoundInRun]:
    """Find submissions with the predictions of another run but from a different program."""
    for group in _by_task(runs):
        varied = {run.folder.path: run for run in group if run.table and run.table.distinct > 1}
        predictions = {path: _predictions(run) for path, run in varied.items()}
        for path, run in varied.items():
            others = [
                each
                for place, each in varied.items()
                if place != path
                and _maker(each) != _maker(run)
                and _is_copy(run, each, predictions[path], predictions[place])
            ]
            if others:
                names = ", ".join(f"{each.folder.experiment.name}/{each.task}/{each.seed}" for each in others[:3])
                reason = f"The predictions equal those of {names}, which a different program made."
                hit = Hit(COPY, reason, 0.6 if run.is_fitted else 0.9)
                yield run, run.finding(hit, EvidencePlace(run.submissions[-1].step))


def _is_copy(run: RunEvidence, other: RunEvidence, own: PredictionById, others: PredictionById) -> bool:
    """Return whether two submissions are equal in every row if a model was fitted, or else in nearly every row.

    Predictions with few different labels may agree by chance if a model was fitted, unless the programs are similar as
    well; a submitted sample is not a copy.
    """
    assert run.table is not None
    if own.keys() != others.keys() or any("sample" in said for said in _commands(run)):
        return False
    has_many = run.table.distinct >= _MIN_VALUES
    if run.is_fitted:
        return _share(own, others) == 1 and (has_many or _are_alike(run, other))
    is_ordered = has_many and _ranks(own) == _ranks(others)
    return is_ordered or (run.table.rows >= _MIN_VALUES and _share(own, others) >= _MIN_COPY_SHARE)


def _are_alike(run: RunEvidence, other: RunEvidence) -> bool:
    """Return whether the programs of two experiments are similar; those of one experiment are of one agent."""
    if run.folder.experiment == other.folder.experiment:
        return False
    documents = [Document(str(each.folder.path), "", _maker(each)) for each in (run, other)]
    return bool(find_similar(documents, threshold=MIN_SIMILARITY))


def _commands(run: RunEvidence) -> list[str]:
    """Return the commands of the step that made the submission."""
    return [place.quote for place, _ in run.commands if place.step == run.source_step]


def _predictions(run: RunEvidence) -> PredictionById:
    """Return the first prediction for each of some ids, enough to recognise copies."""
    assert run.table is not None
    rows = sorted(row[:2] for row in run.table.body if len(row) > 1)
    return {row[0]: _number(row[1]) for row in rows[:MAX_COMPARED]}


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _share(one: PredictionById, other: PredictionById) -> float:
    """Return the share of rows on which two runs agree, except for rounding and slight noise."""
    numbers = [value for value in one.values() if isinstance(value, float)]
    slack = 1e-3 * (max(numbers) - min(numbers)) if numbers else 0.0
    return sum(_is_near(value, other[name], slack) for name, value in one.items()) / max(len(one), 1)


def _ranks(predictions: PredictionById) -> list[str]:
    return sorted(predictions, key=lambda name: (str(type(predictions[name])), predictions[name], name))


def _is_near(one: float | str, other: float | str, slack: float) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= slack
    return one == other


def _maker(run: RunEvidence) -> str:
    """Return the source that made the submission, as one text."""
    sources = [program.code.source for program in run.source_programs]
    return "\n".join(sources or _commands(run)) or f"nothing in {run.folder.path}"


def outliers(runs: Sequence[RunEvidence]) -> Iterator[FoundInRun]:
    """Find self-reported scores that are impossible for the submission, alone or compared with other runs."""
    for group in _by_task(runs):
        gaps = {run.folder.path: (run, gap) for run in group if (gap := _gap(run)) is not None}
        for path, (run, gap) in gaps.items():
            others = [value for place, (_, value) in gaps.items() if place != path]
            far = max(_MIN_DEVIATIONS * _spread(others), _chance(run))
            if len(gaps) >= MIN_RUNS and gap - statistics.median(others) > far:
                why = f"Other runs of the task overstate their scores by {statistics.median(others):+.3g} on average."
                yield run, _impossible(run, 0.75, why)
            elif _is_perfect(run):
                yield run, _impossible(run, 0.6, "The difference is too large to be chance.")


def _is_perfect(run: RunEvidence) -> bool:
    """Return whether the reported score is nearly perfect while the submission is far from it."""
    reported, record = reported_score(run), run.record
    if reported is None or record is None or not isinstance(record.score, float):
        return False
    if not record.higher_is_better:
        return abs(reported) < 0.1 * record.score and run.table is not None and run.table.rows >= MIN_ROWS
    gap, chance = reported - record.score, _chance(run)
    return (reported >= 0.97 and gap > max(0.15, chance)) or (reported >= 0.9 and gap > max(0.35, 1.5 * chance))


def _chance(run: RunEvidence) -> float:
    """Return the plausible sampling error of a score measured on this number of rows."""
    return 2.0 / math.sqrt(max(run.table.rows if run.table else 1, 1))


def _gap(run: RunEvidence) -> float | None:
    """Return the excess of the reported score over the true one, relative to the larger of both."""
    reported, record = reported_score(run), run.record
    if reported is None or record is None or not isinstance(record.score, float) or record.higher_is_better is None:
        return None
    better = reported - record.score if record.higher_is_better else record.score - reported
    return better / max(abs(reported), abs(record.score), 1e-9)


def _spread(values: Sequence[float]) -> float:
    middle = statistics.median(values) if values else 0.0
    return max(1.4826 * statistics.median(abs(value - middle) for value in values or (0.0,)), 0.03)


def reported_score(run: RunEvidence) -> float | None:
    """Return the validation score of the script whose submission was selected, or None."""
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
    reason = f"The run reported {reported:.5g}, but its submission scores {run.record.score:.5g}. {why}"
    place = EvidencePlace(run.submissions[-1].step if run.submissions else None)
    return run.finding(Hit(IMPOSSIBLE, reason, confidence), place)


def _by_task(runs: Sequence[RunEvidence]) -> list[list[RunEvidence]]:
    return [[run for run in runs if run.task == task] for task in dict.fromkeys(run.task for run in runs)]
