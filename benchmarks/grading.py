"""How fast competitions are scored at the size of their real test sets.

    python benchmarks/grading.py [ID ...]

Each miniature's answers and a noisy submission are laid end to end until they have as many rows as the real test set
(`real_sizes.json`), then scored; reading the files is not included. Beside it, where it is known, how long MLE-bench's
own grader takes, scaled to the same number of rows, and the ratio of the two. Pictures and masks stay as small as in
the miniature, so image-sized costs do not show.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pandas as pd

sys.path.append(str(Path(__file__).parent.parent / "tests" / "catalog"))

from competitions import competition_ids, noisy_submission, perfect_submission

import podium
from podium.grading.check_submission import align
from podium.grading.read_submission import read_submission
from podium.grading.table_submission import apply_metric, convert_answers, read_answers
from podium.task import Task

SIZES: dict[str, Any] = json.loads(Path(__file__).with_name("real_sizes.json").read_text(encoding="utf-8"))


def main() -> None:
    print(f"{'competition':54} {'rows':>10} {'seconds':>8} {'rows/s':>12} {'MLE-bench s':>12} {'faster':>7}")
    for task_id in sys.argv[1:] or competition_ids():
        rows, seconds, tiled = measure(podium.load(task_id), SIZES[task_id].get("rows"))
        upstream = SIZES[task_id].get("mle_bench")
        theirs = upstream["seconds"] * rows / upstream["rows"] if upstream else None
        note = "" if tiled else "  (rows of the miniature)"
        print(
            f"{task_id:54} {rows:10,} {seconds:8.3f} {rows / seconds:12,.0f} "
            f"{f'{theirs:.1f}' if theirs else '-':>12} {f'{theirs / seconds:.0f}x' if theirs else '-':>7}{note}",
            flush=True,
        )


def measure(task: Task, wanted: int | None) -> tuple[int, float, bool]:
    """Number of rows, seconds to score them, and whether they could be laid end to end."""
    with tempfile.TemporaryDirectory() as folder:
        answers, submission = _tables(task, Path(folder))
        copies = max(1, math.ceil((wanted or 0) / len(submission)))
        try:
            return (*_score(task, _tile(answers, task, copies), _tile(submission, task, copies)), True)
        except (KeyError, ValueError, IndexError):
            return (*_score(task, answers, submission), False)


def _tables(task: Task, folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    form = task.submission
    place = podium.prepare(task, data_dir=folder, miniature=True).place
    read = task.editions["v1"].answers
    answers = read(place.private) if read else read_answers(place.private / form.answers, form)
    path = folder / "noisy.csv"
    noisy_submission(perfect_submission(task, place), task).to_csv(path, index=False)
    table = read_submission(path, form, expected_rows=len(answers), max_bytes=1 << 30)
    return answers, align(table, form, answers[list(form.ids)])


def _tile(table: pd.DataFrame, task: Task, copies: int) -> pd.DataFrame:
    if copies == 1:
        return table
    tiled = pd.concat([table] * copies, ignore_index=True)
    number = (pd.RangeIndex(len(tiled)) // len(table)).astype(str)
    name = task.submission.ids[0]
    tiled[name] = tiled[name].astype(str) + "~" + number
    return tiled


def _score(task: Task, answers: pd.DataFrame, submission: pd.DataFrame) -> tuple[int, float]:
    custom = task.editions["v1"].score
    started = time.perf_counter()
    if custom:
        custom(answers, submission)
    else:
        apply_metric(task, convert_answers(task.submission, answers), submission)
    return len(submission), time.perf_counter() - started


if __name__ == "__main__":
    main()
