"""Baseline measurement: the mean and the spread of the starter code's scores on a research task."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from podium.errors import PodiumError
from podium.grading.baseline_score import BaselineMeasurement, write_baseline
from podium.runs.attempt.grade_run import prepared_task
from podium.runs.experiment import Experiment
from podium.runs.versions import versions
from podium.workspace.journal.events import now


def collect_baseline(experiment: Experiment, task: str) -> BaselineMeasurement:
    """Collect the scores of an experiment with the agent `baseline` and store them beside the task's data.

    Raises:
        PodiumError: a run is unfinished, or no run has a score.
    """
    plan = experiment.plan
    records = [experiment.run(task, seed).read_record() for seed in range(experiment.seeds)]
    finished = [record for record in records if record is not None and record.status == "finished"]
    if len(finished) < experiment.seeds:
        raise PodiumError(f"Some runs are unfinished. Repeat the command to continue them in {experiment.folder}")
    scores = tuple(float(record.score) for record in finished if record.valid and record.score is not None)
    prepared = prepared_task(task, plan)
    measured = BaselineMeasurement(
        task=task,
        edition=prepared.edition,
        miniature=any(record.miniature for record in finished),
        scores=scores,
        failed=len(finished) - len(scores),
        machine={
            "processor": _processor(),
            "cores": str(plan.cores),
            "of": str(os.cpu_count()),
            "gpus": str(plan.gpus),
        },
        versions=versions(),
        measured=now(),
    )
    write_baseline(prepared.place, measured)
    return measured


def _processor() -> str:
    """Return the processor's model name as reported by the kernel."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())
