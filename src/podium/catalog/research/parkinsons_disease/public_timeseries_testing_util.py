"""The interface that hands out the test visits month by month and takes the predictions for each.

    api = MockApi()
    for test, peptides, proteins, sample in api.iter_test():
        sample["rating"] = ...
        api.predict(sample)

Predictions of one month must be in before the next month is handed out, and there is one pass only. After the last
month the predictions are in submission/submission.csv.
"""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

DATA = Path("data/example_test_files")
NAMES = ("test.csv", "test_peptides.csv", "test_proteins.csv", "sample_submission.csv")
GROUP = "visit_month"
SUBMISSION = Path("submission/submission.csv")


class MockApi:
    def __init__(self) -> None:
        self._predictions: list[pd.DataFrame] = []
        self._state = "new"  # then "waiting" (for predictions), "answered", "over"

    def iter_test(self) -> Iterator[tuple[pd.DataFrame, ...]]:
        """The rows of each month: questions, peptides, proteins, and the predictions to make, which say 0."""
        if self._state != "new":
            raise RuntimeError("iter_test can be called only once.")
        tables = [pd.read_csv(DATA / name) for name in NAMES]
        for month in sorted(tables[-1][GROUP].unique()):
            self._state = "waiting"
            yield tuple(table[table[GROUP] == month].reset_index(drop=True) for table in tables)
            if self._state == "waiting":
                raise RuntimeError(f"Call predict for month {month} before asking for the next month.")
        self._state = "over"
        SUBMISSION.parent.mkdir(exist_ok=True)
        pd.concat(self._predictions).to_csv(SUBMISSION, index=False)

    def predict(self, predictions: pd.DataFrame) -> None:
        """Takes the predictions of the month that was handed out last: prediction_id, rating, and the month."""
        if self._state != "waiting":
            raise RuntimeError("There is no month to predict: take the next one from iter_test first.")
        if not isinstance(predictions, pd.DataFrame):
            raise TypeError(f"predict takes a DataFrame, not {type(predictions).__name__}.")
        self._predictions.append(predictions.copy())
        self._state = "answered"
