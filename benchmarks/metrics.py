"""What scoring costs beside reading: a million rows per metric family, reported as ratios within one run.

    python benchmarks/metrics.py [--rows 1000000]

For each metric answers and a submission of that many rows are written, read as grading does (`read`: both files),
brought into one order from shuffled rows (`align`) and scored (`score`). The target: score / read below 1.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium import metrics
from podium.grading.check_submission import align
from podium.grading.read_submission import read_submission
from podium.grading.table_submission import read_answers
from podium.task import Columns, Metric, Values

LIMIT = 4 << 30


@dataclass(frozen=True)
class Case:
    """A metric and data for it."""

    metric: Metric
    truth: Any
    prediction: Any
    values: type | Values


def cases(rows: int, rng: np.random.Generator) -> list[Case]:
    """One case per core metric, on data of a usual kind."""
    labels, guesses = rng.integers(0, 5, rows), rng.integers(0, 5, rows)
    binary, chance = rng.integers(0, 2, rows), rng.random(rows)
    numbers = rng.gamma(2, 2, rows)
    shares = rng.dirichlet(np.ones(3), rows)
    lists = _texts(rng, rows, 5, 1000)
    words = _texts(rng, rows, 6, 300)
    masks = [f"{start} 20 {start + 40} 15" for start in rng.integers(1, 9000, rows)]
    other_masks = [f"{start} 25 {start + 45} 10" for start in rng.integers(1, 9000, rows)]
    return [
        Case(metrics.accuracy, labels, guesses, int),
        Case(metrics.roc_auc, binary, chance, float),
        Case(metrics.log_loss, binary, chance, float),
        Case(metrics.log_loss, np.eye(3, dtype=int)[labels % 3], shares, float),
        Case(metrics.f1.using(average="macro"), labels, guesses, int),
        Case(metrics.quadratic_kappa, labels, guesses, int),
        Case(metrics.matthews, binary, binary ^ (chance < 0.2), int),
        Case(metrics.rmse, numbers, numbers + chance, float),
        Case(metrics.rmsle, numbers, numbers + chance, float),
        Case(metrics.mae, numbers, numbers + chance, float),
        Case(metrics.smape, numbers, numbers + chance, float),
        Case(metrics.pinball.using(quantile=0.9), numbers, numbers + chance, float),
        Case(metrics.pearson, numbers, numbers + chance, float),
        Case(metrics.spearman, numbers, numbers + chance, float),
        Case(metrics.map_at_k.using(k=5), lists, rng.permutation(lists), str),
        Case(metrics.ndcg_at_k.using(k=5), lists, rng.permutation(lists), str),
        Case(metrics.word_jaccard, words, rng.permutation(words), str),
        Case(metrics.label_micro_f1, lists, rng.permutation(lists), str),
        Case(metrics.rle_dice, np.array(masks, object), np.array(other_masks, object), str),
        Case(metrics.mean_levenshtein, words, rng.permutation(words), str),
    ]


def _texts(rng: np.random.Generator, rows: int, items: int, kinds: int) -> np.ndarray:
    names = np.array([f"item{number}" for number in range(kinds)])
    return np.array([" ".join(row) for row in names[rng.integers(0, kinds, (rows, items))]], object)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    rng = np.random.default_rng(0)
    for case in cases(10, rng):
        case.metric(case.truth, case.prediction)  # whatever a metric imports is imported now
    print(f"{rows:,} rows\n{'metric':24} {'read s':>7} {'align s':>8} {'score s':>8} {'score/read':>11}")
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(rows, rng):
            reading, aligning, scoring = _measure(case, rows, Path(folder), rng)
            ratios.append(scoring / reading)
            name = case.metric.name + (" (3 columns)" if np.ndim(case.prediction) == 2 else "")
            print(f"{name:24} {reading:7.2f} {aligning:8.2f} {scoring:8.2f} {ratios[-1]:11.2f}", flush=True)
    print(f"worst score/read: {max(ratios):.2f}")


def _measure(case: Case, rows: int, folder: Path, rng: np.random.Generator) -> tuple[float, float, float]:
    truth, prediction = _columns(case.truth), _columns(case.prediction)
    form = Columns(id="id", target=tuple(prediction), values=case.values, answers="answers.csv")
    ids = pd.DataFrame({"id": [f"row{number}" for number in range(rows)]})
    ids.assign(**truth).to_csv(folder / form.answers, index=False)
    ids.assign(**prediction).iloc[rng.permutation(rows)].to_csv(folder / "submission.csv", index=False)

    def read() -> tuple[pd.DataFrame, pd.DataFrame]:
        table = read_submission(folder / "submission.csv", form, expected_rows=rows, max_bytes=LIMIT)
        return table, read_answers(folder / form.answers, form)

    (table, answers), reading = _timed(read)
    aligned, aligning = _timed(lambda: align(table, form, answers[["id"]]))
    columns = list(prediction) if len(prediction) > 1 else "target0"
    score, scoring = _timed(lambda: case.metric(answers[columns].to_numpy(), aligned[columns].to_numpy()))
    assert np.isfinite(score)
    return reading, aligning, scoring


def _columns(values: Any) -> dict[str, np.ndarray]:
    array = np.asarray(values)
    return {f"target{number}": part for number, part in enumerate(np.atleast_2d(array.T))}


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started


if __name__ == "__main__":
    main()
