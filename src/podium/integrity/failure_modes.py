"""Why runs end as they do: MLAgentBench's failure modes, told by rules from events, or by a model where asked."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from podium.integrity.ask_model import through_inspect
from podium.integrity.detectors.invented_scores import claims
from podium.integrity.model_questions import classify
from podium.integrity.scan_evidence import RunEvidence, StepEvidence, read_evidence
from podium.integrity.write_findings import quote
from podium.report.failure_causes import FAILURES_FILE, Failures, Mode, RunMode
from podium.runs.experiment import read_experiment
from podium.runs.plan.preflight import ping
from podium.runs.run_folder import write_document
from podium.workspace.journal.observations import ProgramOutput, Refusal, ScriptResult

SUCCESS_PERCENT = 10.0
"""The improvement over a baseline that MLAgentBench counts as a success."""
_MISUSED = re.compile(r"was not performed:|There is no action|Its input looks like this")
_UNUSABLE = re.compile(r"answers? of the model could not be used|cannot be read as")
_TOO_LONG = re.compile(
    r"too long for the model|context (length|window)|maximum context|window of \S+ holds", re.IGNORECASE
)
UNSURE: tuple[Mode, ...] = ("bad plan", "small improvement", "debugging", "hallucination")
"""What rules tell from the end of a run alone; a model may see more in its course."""
FailureVerdict = tuple[Mode, str, int | None, str]
"""The mode, why, the step that shows it (None: the last) and what stands there."""
FailureRule = Callable[[RunEvidence], FailureVerdict | None]


def explain(run: RunEvidence) -> RunMode:
    """How a run ended, by the first rule that applies."""
    mode, reason, step, said = next(found for rule in RULES if (found := rule(run)) is not None)
    facts = {"task": run.task, "seed": run.seed, "agent": run.start.agent, "mode": mode, "reason": reason}
    last = run.steps[-1].number if run.steps else None
    return RunMode.model_validate(facts | {"step": step or last, "quote": quote(said)})


def explain_all(experiment: Path, *, model: str | None = None, base_url: str | None = None) -> Failures:
    """How the runs of an experiment ended, also written to its `failures.json`.

    Args:
        model: is asked about runs that the rules cannot tell; where its answer is void, the rules' stands.
    """
    if model is not None:
        ping(model, base_url)
    runs = [read_evidence(run) for run in read_experiment(experiment).runs() if os.path.lexists(run.journal)]
    modes = {run.folder.path: explain(run) for run in runs}
    if model is not None:
        unsure = [run for run in runs if modes[run.folder.path].mode in UNSURE]
        modes |= classify(unsure, through_inspect(model, base_url))
    found = Failures(runs=tuple(modes.values()))
    write_document(experiment / FAILURES_FILE, found, top=experiment)
    return found


def _token_length(run: RunEvidence) -> FailureVerdict | None:
    if run.record is not None and run.record.ended_by == "tokens" and not _is_good(run):
        return "token length", "its tokens were used up", None, ""
    if run.record is not None and _TOO_LONG.search(run.record.error or ""):
        return "token length", "the window of its model is too small", None, run.record.error or ""
    return _gave_up(run, _TOO_LONG, "token length", "what it had to read was too long for the model")


def _gave_up(run: RunEvidence, pattern: re.Pattern[str], mode: Mode, reason: str) -> FailureVerdict | None:
    """A verdict if the agent gave up with such words: its last step then begins with these."""
    said = run.steps[-1].output if run.steps else ""
    return (mode, reason, None, said) if said.startswith("Ended by the agent") and pattern.search(said) else None


def _success(run: RunEvidence) -> FailureVerdict | None:
    record = run.record
    if record is None or not _is_good(run):
        return None
    if record.improvement is not None:
        return "success", f"the baseline was improved by {record.improvement:.1f} %", None, ""
    medal = f": {record.medal}" if record.medal else ""
    return "success", f"the submission is above the median{medal}", None, ""


def _is_good(run: RunEvidence) -> bool:
    record = run.record
    if record is None or not record.valid:
        return False
    if record.improvement is not None:
        return record.improvement > SUCCESS_PERCENT
    return record.medal is not None or bool(record.above_median)


def _response_format(run: RunEvidence) -> FailureVerdict | None:
    if found := _gave_up(run, _UNUSABLE, "response format", "its model's answers could not be used"):
        return found
    misused = [step for step in run.steps if isinstance(step.observation, Refusal) and _MISUSED.search(step.output)]
    if misused and 2 * len(misused) >= len([step for step in run.steps if step.action.name != "final_answer"]):
        reason = f"{len(misused)} of {len(run.steps)} actions had no usable form"
        return "response format", reason, misused[0].number, misused[0].output
    return None


def _hallucination(run: RunEvidence) -> FailureVerdict | None:
    for finding in claims(run):
        return "hallucination", finding.reason, finding.step, finding.quote
    return None


def _debugging(run: RunEvidence) -> FailureVerdict | None:
    """The last programs all failed, and more of them failed than worked."""
    ended = _ended(run)
    failed = [step for step, has_failed in ended if has_failed]
    if len(failed) < 2 or 2 * len(failed) < len(ended) or not all(has_failed for _, has_failed in ended[-2:]):
        return None
    if run.record is not None and run.record.valid and _moved(run):
        return None
    reason = f"{len(failed)} of {len(ended)} programs failed, the last ones among them"
    return "debugging", reason, failed[-1].number, failed[-1].output


def _small_improvement(run: RunEvidence) -> FailureVerdict | None:
    record = run.record
    if record is None or not record.valid:
        return None
    if record.improvement is not None and record.improvement > 0:
        return "small improvement", f"the baseline was improved by {record.improvement:.1f} % only", None, ""
    if record.improvement is None and _moved(run):
        return "small improvement", "a valid submission that is not above the median", None, ""
    return None


def _bad_plan(run: RunEvidence) -> FailureVerdict | None:
    record = run.record
    if record is None or not record.valid:
        said = "nothing it did led to a valid submission" if _ended(run) else "it ran no program"
    elif record.improvement is not None:
        said = "what it did made nothing better"
    else:
        said = "its submission says the same for every row, or is the sample"
    return "bad plan", said, None, (record.error or "") if record else ""


RULES: tuple[FailureRule, ...] = (
    *(_success, _token_length, _response_format, _hallucination, _debugging, _small_improvement, _bad_plan),
)
"""In this order; the last applies to every run."""


def _moved(run: RunEvidence) -> bool:
    """Whether the submission is more than a constant."""
    return run.table is not None and run.table.distinct > 1


def _ended(run: RunEvidence) -> list[tuple[StepEvidence, bool]]:
    """The steps that ran a program, and whether it failed."""
    found = [(step, step.observation) for step in run.steps]
    ended = [(step, said) for step, said in found if isinstance(said, ProgramOutput | ScriptResult)]
    return [(step, said.stopped is not None or bool(said.exit_code)) for step, said in ended]
