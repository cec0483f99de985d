"""Failure modes of runs, as in MLAgentBench: classified by rules or, on request, by a model."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from podium.integrity.ask_model import ask_through_inspect
from podium.integrity.detectors.invented_scores import unsupported_claims
from podium.integrity.model_questions import classify_with_model
from podium.integrity.scan_evidence import RunEvidence, StepEvidence, read_evidence
from podium.integrity.write_findings import quote
from podium.report.failure_causes import FAILURES_FILE, Failures, Mode, RunFailureMode
from podium.runs.experiment import read_experiment
from podium.runs.plan.preflight import ping
from podium.runs.run_folder import write_document
from podium.workspace.journal.observations import ProgramOutput, Refusal, ScriptResult

SUCCESS_PERCENT = 10.0
"""Improvement over a baseline that MLAgentBench counts as a success."""
_MISUSED = re.compile(r"was not performed:|There is no action|Its input looks like this")
_UNUSABLE = re.compile(r"unusable answers? of the model")
_TOO_LONG = re.compile(r"too long for the model|context (length|window)|maximum context", re.IGNORECASE)
UNSURE: tuple[Mode, ...] = ("bad plan", "small improvement", "debugging", "hallucination")
"""Modes that rules derive from the end of a run alone; a model may find another one in its course."""
FailureVerdict = tuple[Mode, str, int | None, str]
"""Mode, reason, step that shows it (None: the last), and quotation."""
FailureRule = Callable[[RunEvidence], FailureVerdict | None]


def classify_run(run: RunEvidence) -> RunFailureMode:
    """Return the failure mode of a run, by the first rule that applies."""
    mode, reason, step, said = next(found for rule in RULES if (found := rule(run)) is not None)
    facts = {"task": run.task, "seed": run.seed, "agent": run.start.agent, "mode": mode, "reason": reason}
    last = run.steps[-1].number if run.steps else None
    return RunFailureMode.model_validate(facts | {"step": step or last, "quote": quote(said)})


def classify_failures(experiment: Path, *, model: str | None = None, base_url: str | None = None) -> Failures:
    """Classify the runs of an experiment and write the result to its `failures.json`.

    Args:
        model: classifies the runs that the rules leave uncertain; if its answer is invalid, the rules decide.
    """
    if model is not None:
        ping(model, base_url)
    runs = [read_evidence(run) for run in read_experiment(experiment).runs() if os.path.lexists(run.journal)]
    modes = {run.folder.path: classify_run(run) for run in runs}
    if model is not None:
        unsure = [run for run in runs if modes[run.folder.path].mode in UNSURE]
        modes |= classify_with_model(unsure, ask_through_inspect(model, base_url))
    found = Failures(runs=tuple(modes.values()))
    write_document(experiment / FAILURES_FILE, found, top=experiment)
    return found


def _token_length(run: RunEvidence) -> FailureVerdict | None:
    if run.record is not None and run.record.ended_by == "tokens" and not _is_good(run):
        return "token length", "The run used up its tokens.", None, ""
    if run.record is not None and _TOO_LONG.search(run.record.error or ""):
        return "token length", "The context window of the model was too small.", None, run.record.error or ""
    return _gave_up(run, _TOO_LONG, "token length", "The input was too long for the model.")


def _gave_up(run: RunEvidence, pattern: re.Pattern[str], mode: Mode, reason: str) -> FailureVerdict | None:
    """Return a verdict if the agent gave up with words that match a pattern."""
    said = run.steps[-1].output if run.steps else ""
    return (mode, reason, None, said) if said.startswith("The agent gave up") and pattern.search(said) else None


def _success(run: RunEvidence) -> FailureVerdict | None:
    record = run.record
    if record is None or not _is_good(run):
        return None
    if record.improvement is not None:
        return "success", f"The baseline was improved by {record.improvement:.1f} %.", None, ""
    if record.medal:
        return "success", f"The submission won a {record.medal} medal.", None, ""
    return "success", "The submission is above the median.", None, ""


def _is_good(run: RunEvidence) -> bool:
    record = run.record
    if record is None or not record.valid:
        return False
    if record.improvement is not None:
        return record.improvement > SUCCESS_PERCENT
    return record.medal is not None or bool(record.above_median)


def _response_format(run: RunEvidence) -> FailureVerdict | None:
    if found := _gave_up(run, _UNUSABLE, "response format", "The answers of the model could not be used."):
        return found
    misused = [step for step in run.steps if isinstance(step.observation, Refusal) and _MISUSED.search(step.output)]
    if misused and 2 * len(misused) >= len([step for step in run.steps if step.action.name != "final_answer"]):
        reason = f"{len(misused)} of {len(run.steps)} actions were malformed."
        return "response format", reason, misused[0].number, misused[0].output
    return None


def _hallucination(run: RunEvidence) -> FailureVerdict | None:
    for finding in unsupported_claims(run):
        return "hallucination", finding.reason, finding.step, finding.quote
    return None


def _debugging(run: RunEvidence) -> FailureVerdict | None:
    """Return a verdict if the last programs all failed and at least half of all programs did."""
    ended = _ended(run)
    failed = [step for step, has_failed in ended if has_failed]
    if len(failed) < 2 or 2 * len(failed) < len(ended) or not all(has_failed for _, has_failed in ended[-2:]):
        return None
    if run.record is not None and run.record.valid and _moved(run):
        return None
    reason = f"{len(failed)} of {len(ended)} programs failed, including the last ones."
    return "debugging", reason, failed[-1].number, failed[-1].output


def _small_improvement(run: RunEvidence) -> FailureVerdict | None:
    record = run.record
    if record is None or not record.valid:
        return None
    if record.improvement is not None and record.improvement > 0:
        return "small improvement", f"The baseline was improved by only {record.improvement:.1f} %.", None, ""
    if record.improvement is None and _moved(run):
        return "small improvement", "The submission is valid but not above the median.", None, ""
    return None


def _bad_plan(run: RunEvidence) -> FailureVerdict | None:
    record = run.record
    if record is None or not record.valid:
        said = "No program led to a valid submission." if _ended(run) else "The agent ran no program."
    elif record.improvement is not None:
        said = "No action improved on the baseline."
    else:
        said = "The submission predicts the same for every row, or is the sample submission."
    return "bad plan", said, None, (record.error or "") if record else ""


RULES: tuple[FailureRule, ...] = (
    *(_success, _token_length, _response_format, _hallucination, _debugging, _small_improvement, _bad_plan),
)
"""Rules in order of precedence; the last applies to every run."""


def _moved(run: RunEvidence) -> bool:
    """Return whether the submission is more than a constant."""
    return run.table is not None and run.table.distinct > 1


def _ended(run: RunEvidence) -> list[tuple[StepEvidence, bool]]:
    """Return the steps that ran a program, each with whether it failed."""
    found = [(step, step.observation) for step in run.steps]
    ended = [(step, said) for step, said in found if isinstance(said, ProgramOutput | ScriptResult)]
    return [(step, said.stopped is not None or bool(said.exit_code)) for step, said in ended]
