"""Measures what the starter code of a research task scores, and how much that varies."""

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


def measured_baseline(experiment: Experiment, task: str) -> BaselineMeasurement:
    """What the runs of an experiment of the agent `baseline` scored; kept beside the data they were made on.

    Raises:
        PodiumError: not all runs are done, or none has a score.
    """
    plan = experiment.plan
    records = [experiment.run(task, seed).read_record() for seed in range(experiment.seeds)]
    finished = [record for record in records if record is not None and record.status == "finished"]
    if len(finished) < experiment.seeds:
        raise PodiumError(f"Not all runs were done. Repeat the command; their folder is {experiment.folder}")
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
    """The name of the processor, as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())
