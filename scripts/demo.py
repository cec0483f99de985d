"""The demonstration: prepares the quick suite, submits a sample and a simple model to each task, grades both."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import podium
from podium.catalog.forge import parse_id
from podium.catalog.forge.families import load_family
from podium.catalog.forge.field import draw_material, run_pipeline
from podium.data.home import locate

OUT = Path(__file__).parent.parent / "demo"


def main() -> None:
    started = time.perf_counter()
    table = Table("task", "metric", "sample", "simple model", "percentile", "medal", box=SIMPLE_HEAD)
    for task_id in podium.tasks("quick"):
        task = podium.load(task_id)
        podium.prepare(task)
        sample = podium.grade(task, locate(task_id).public / task.submission.sample)
        model = podium.grade(task, simple_model(task_id))
        arrow = "↑" if task.metric.higher_is_better else "↓"
        table.add_row(
            task_id,
            f"{task.metric.title} {arrow}",
            f"{sample.score:.3f}",
            f"{model.score:.3f}",
            f"{model.percentile:.0f}",
            model.medal or "-",
        )
    console = Console(width=None if sys.stdout.isatty() else 104)
    console.print(table)
    console.print(
        f"{len(table.rows)} tasks prepared, submitted to and graded in {time.perf_counter() - started:.0f} s."
    )
    console.print("A medal takes more than a default model. Next: podium show TASK, podium grade TASK FILE")


def simple_model(task_id: str) -> Path:
    """Trains the family's first default model on the public data and writes its submission."""
    parts = parse_id(task_id)
    family = load_family(parts.family)
    material = draw_material(family, parts.difficulty, parts.seed)
    prediction = run_pipeline(family.defaults[0], material, np.random.default_rng(0))
    targets = list(family.submission.targets)
    submission = material.sample.copy()
    submission[targets if len(targets) > 1 else targets[0]] = prediction
    OUT.mkdir(exist_ok=True)
    path = OUT / f"{task_id}.csv"
    submission.to_csv(path, index=False)
    return path


if __name__ == "__main__":
    main()
