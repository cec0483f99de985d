"""Reads a task's public data as one plain table, the same for every contender.

What is a table already is taken as it is, with dates in parts and further tables joined by a key they share. Long texts
become TF-IDF and its main components, pictures a small grey grid, sounds a coarse spectrogram, arrays their first
values. Whatever does not fit this shape, such as masks or lists, is said so with `NotATable`.
"""

from __future__ import annotations

import wave
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

CATEGORIES = 255
"""The most that both scikit-learn and LightGBM take as they are."""
GRID = 16
"""Pictures become GRID x GRID values."""
BANDS, FRAMES = 16, 8
"""Sounds become so many bands of frequency at so many moments."""
COMPONENTS = 64
"""What a column of texts becomes."""
METRICS = {
    "log_loss": ("log loss", "logarithmic loss", "logloss"),
    "rmsle": ("rmsle", "logarithmic error"),
    "roc_auc": ("roc curve", "roc auc", "auc"),
    "macro_f1": ("macro f1", "f1"),
    "accuracy": ("accuracy",),
    "mae": ("mean absolute error", "mae"),
    "rmse": ("root mean squared error", "rmse"),
}
"""By FLAML's name (rmsle is not one of its), what a description says; the first that fits counts."""

Kind = Literal["number", "label", "chance", "chances"]


class NotATable(Exception):
    """The task cannot be put as one table of features with a few columns to predict."""


@dataclass(frozen=True)
class Target:
    """Something to predict: a number, a label, the chance of 1, or the chances of all labels."""

    names: tuple[str, ...]
    """The columns of the submission; several only for the chances of labels of these names."""
    values: pd.Series
    kind: Kind


@dataclass(frozen=True)
class Problem:
    train: pd.DataFrame
    test: pd.DataFrame
    """In the order of the sample submission's rows."""
    targets: tuple[Target, ...]
    metric: str | None
    """One of METRICS, if the description names one."""


def read_problem(data: Path) -> Problem:
    """The task in a folder of public data.

    Raises:
        NotATable: it has another shape.
    """
    train, test, sample = (_read(data / f"{name}.csv") for name in ("train", "test", "sample_submission"))
    ids = [name for name in sample if name in test]
    if not ids or test.duplicated(ids).any():
        raise NotATable("the rows to predict are not those of test.csv")
    test = sample[ids].merge(test, on=ids, how="left")
    metric = find_metric(data / "description.md")
    targets = _targets(train, test, sample, ids, metric)
    shared = [name for name in train if name in test and name not in ids]
    both = pd.concat([train[ids + shared], test[ids + shared]], ignore_index=True)
    parts = [_columns(_joined(both[shared], data)), _contents(data, both[ids[0]].astype(str), len(train))]
    features = pd.concat([part for part in parts if part.shape[1]], axis=1) if any(p.shape[1] for p in parts) else None
    if features is None:
        raise NotATable("there are no features but identifiers")
    return Problem(features[: len(train)], features[len(train) :].reset_index(drop=True), targets, metric)


def find_metric(description: Path) -> str | None:
    """The metric that a description names, in its section of that name if it has one."""
    text = description.read_text(encoding="utf-8", errors="replace").lower()
    section = text.split("## metric", 1)[-1] if "## metric" in text else text
    return next((name for name, words in METRICS.items() if any(word in section for word in words)), None)


def _read(path: Path) -> pd.DataFrame:
    if not path.exists():
        raise NotATable(f"there is no {path.name}")
    return pd.read_csv(path, low_memory=False)


def _targets(
    train: pd.DataFrame, test: pd.DataFrame, sample: pd.DataFrame, ids: list[str], metric: str | None
) -> tuple[Target, ...]:
    names = [name for name in sample if name not in ids]
    if all(name in train for name in names):
        return tuple(Target((name,), train[name], _kind(train[name], sample[name], metric)) for name in names)
    further = [name for name in train if name not in test]
    if len(further) == 1 and set(train[further[0]].astype(str)) == set(names):
        return (Target(tuple(names), train[further[0]].astype(str), "chances"),)
    raise NotATable(f"train.csv has no column for {', '.join(names)}")


def _kind(values: pd.Series, sample: pd.Series, metric: str | None) -> Kind:
    if values.isna().any():
        raise NotATable(f"{values.name} has blanks")
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        if metric in ("accuracy", "macro_f1"):
            return "label"
        return "chance" if set(values.unique()) == {0, 1} and metric in ("roc_auc", "log_loss") else "number"
    if values.nunique() > max(50, len(values) // 10):
        raise NotATable(f"{values.name} is neither a number nor a label")
    return "label"


def _joined(table: pd.DataFrame, data: Path) -> pd.DataFrame:
    """The table with the columns of every further one that has a row for each value of a column they share."""
    for path in sorted(data.glob("*.csv")):
        if path.stem in ("train", "test", "sample_submission"):
            continue
        side = pd.read_csv(path, low_memory=False)
        keys = [name for name in side if name in table]
        if len(keys) == 1 and side[keys[0]].is_unique:
            table = table.merge(side, on=keys[0], how="left")
    return table


def _columns(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers as they are, dates in parts, long texts as components, other texts as categories or codes."""
    found: dict[str, pd.Series] = {}
    for name in table:
        column = table[name]
        if pd.api.types.is_numeric_dtype(column):
            found[name] = column.astype(float)
        elif (dates := _dates(column)) is not None:
            for part in ("year", "month", "day", "dayofweek", "dayofyear", "hour"):
                found[f"{name}_{part}"] = getattr(dates.dt, part).astype(float)
            found[f"{name}_days"] = (dates - dates.min()).dt.days.astype(float)
        elif column.dropna().astype(str).str.count(" ").mean() >= 4:
            found |= _components(name, column.fillna("").astype(str))
        elif column.nunique() <= CATEGORIES:
            found[name] = column.astype("category")
        else:
            found[name] = pd.Series(pd.factorize(column)[0], index=column.index).astype(float)
    return pd.DataFrame(found, index=table.index)


def _dates(column: pd.Series) -> pd.Series | None:
    known = column.dropna().astype(str)
    if not known.str.match(r"\d{4}-\d\d-\d\d").all():
        return None
    return pd.to_datetime(column, errors="coerce")


def _components(name: str, texts: pd.Series) -> dict[str, pd.Series]:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(min_df=2, sublinear_tf=True, ngram_range=(1, 2), max_features=50_000).fit_transform(texts)
    count = min(COMPONENTS, words.shape[1] - 1)
    found = TruncatedSVD(count, random_state=0).fit_transform(words)
    return {f"{name}_{number}": pd.Series(found[:, number], index=texts.index) for number in range(count)}


def _contents(data: Path, ids: pd.Series, rows: int) -> pd.DataFrame:
    """The values in the files that are named after the rows: train/ID.* and test/ID.*, if there are any."""
    vectors = []
    for number, name in enumerate(ids):
        folder = data / ("train" if number < rows else "test")
        paths = [path for suffix in _READERS if (path := folder / f"{name}{suffix}").exists()]
        if not paths:
            return pd.DataFrame(index=ids.index)
        vectors.append(_READERS[paths[0].suffix](paths[0]))
    values = np.stack(vectors)
    return pd.DataFrame(values, index=ids.index, columns=[f"value_{number}" for number in range(values.shape[1])])


def _picture(path: Path) -> np.ndarray:
    from PIL import Image

    with Image.open(path) as picture:
        return np.asarray(picture.convert("L").resize((GRID, GRID), Image.Resampling.BOX), dtype=float).ravel()


def _sound(path: Path) -> np.ndarray:
    from scipy.signal import spectrogram

    with wave.open(str(path)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), dtype=np.int16).astype(float)
    _, _, power = spectrogram(samples, nperseg=256)
    bands = np.array_split(np.log1p(power), BANDS, axis=0)
    return np.array([part.mean() for band in bands for part in np.array_split(band, FRAMES, axis=1)])


def _array(path: Path) -> np.ndarray:
    values = np.nan_to_num(np.load(path, allow_pickle=False).astype(float)).ravel()
    return np.pad(values[: GRID * GRID], (0, max(0, GRID * GRID - len(values))))


_READERS = {".png": _picture, ".jpg": _picture, ".tif": _picture, ".wav": _sound, ".npy": _array}
