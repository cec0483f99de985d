"""Which rows are to be predicted, and which column holds the truth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from recipe_scripts import profile_of

from podium.metrics import log_loss, roc_auc

ROWS, TRAIN = 90, 60


def write(public: Path, train: pd.DataFrame, test: pd.DataFrame, targets: tuple[str, ...]) -> None:
    train.to_csv(public / "train.csv", index=False)
    test.to_csv(public / "test.csv", index=False)
    test[["row"]].assign(**dict.fromkeys(targets, 0.3)).to_csv(public / "sample_submission.csv", index=False)


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"row": np.arange(ROWS) + 500, "a": rng.normal(size=ROWS)})


def test_a_column_that_test_has_too_is_not_the_class(tmp_path: Path) -> None:
    targets = ("class_0", "class_1", "class_2")
    rows = table().assign(is_new=np.arange(ROWS) % 2, checked=np.arange(ROWS) % 2, kind=np.arange(ROWS) % 3)
    write(tmp_path, rows[:TRAIN], rows[TRAIN:][["row", "a", "is_new"]], targets)
    profile = profile_of(tmp_path, log_loss, ids=("row",), targets=targets)
    assert profile.labels == ("kind",) and profile.classes == (0, 1, 2), "checked has two of the three names"
    assert "is_new" in [column.name for column in profile.features]


def test_a_list_that_test_has_too_is_not_the_truth(tmp_path: Path) -> None:
    targets = ("blue", "green", "red")
    lists = np.array(["red,blue", "green", "blue,green"])
    rows = table().assign(worn=lists[np.arange(ROWS) % 3], liked=lists[np.arange(ROWS) // 7 % 3])
    write(tmp_path, rows[:TRAIN], rows[TRAIN:][["row", "a", "worn"]], targets)
    profile = profile_of(tmp_path, roc_auc, ids=("row",), targets=targets)
    assert profile.labels == ("liked",) and profile.separator == ","
