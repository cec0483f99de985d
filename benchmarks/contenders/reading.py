"""Reads a task's public data as one plain table, the same for every contender.

What is a table already is taken as it is, with dates in parts and further tables joined. Long texts become TF-IDF and
its main components, pictures a small grey grid, sounds a coarse spectrogram, arrays their first values. Columns that
the description forbids are left out. Whatever does not fit this shape, such as masks or lists, is said so with
`NotATable`.
"""

from __future__ import annotations

import re
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from joining import further_tables, joined

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
    "kappa": ("kappa",),
    "concordance": ("concordance",),
    "pinball": ("pinball",),
    "macro_f1": ("macro f1", "f1"),
    "accuracy": ("accuracy", "share of .* right"),
    "mae": ("mean absolute error", "mae"),
    "rmse": ("root mean squared error", "rmse"),
}
"""What a description says, as patterns; the first that fits counts."""
SECTION = re.compile(r"^#+ .*(?:metric|evaluat|scor|judged|grad).*$", re.MULTILINE | re.IGNORECASE)
FORBIDDEN = re.compile(r"\b(?:rules|forbid|forbidden|not let you|not allowed|must not|may not)\b", re.IGNORECASE)
"""What a sentence says that tells not to use a column."""

Kind = Literal["number", "label", "chance", "chances", "grade", "risk", "quantile", "labels"]


class NotATable(Exception):
    """The task cannot be put as one table of features with a few columns to predict."""


@dataclass(frozen=True)
class Target:
    """Something to predict.

    A number, a label, the chance of 1, the chances of all labels, a grade (a whole number in which more is more), a
    risk (high where a time is short), a number's quantile, or several labels with spaces between them.
    """

    names: tuple[str, ...]
    """The columns of the submission; several only for the chances of labels of these names and for quantiles."""
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
    description = (data / "description.md").read_text(encoding="utf-8", errors="replace")
    metric, forbidden = find_metric(description), forbidden_columns(description)
    targets = _targets(train, test, sample, ids, metric)
    shared = [name for name in train if name in test and name not in ids and name not in forbidden]
    both = pd.concat([train[ids + shared], test[ids + shared]], ignore_index=True)
    table = joined(both, further_tables(data)).drop(columns=ids)
    parts = [_columns(table, data), _contents(data, both[ids[0]].astype(str))]
    features = pd.concat([part for part in parts if part.shape[1]], axis=1) if any(p.shape[1] for p in parts) else None
    if features is None:
        raise NotATable("there are no features but identifiers")
    features.columns = [f"f{number}" for number in range(features.shape[1])]  # some models are particular about names
    return Problem(features[: len(train)], features[len(train) :].reset_index(drop=True), targets, metric)


def find_metric(description: str) -> str | None:
    """The metric that a description names, in its section about that if it has one."""
    heading = SECTION.search(description)
    text = description[heading.end() :].split("\n#", 1)[0] if heading else description
    text = text.lower()
    return next((name for name, words in METRICS.items() if re.search(rf"\b(?:{'|'.join(words)})", text)), None)


def forbidden_columns(description: str) -> set[str]:
    """The columns that a description says not to use."""
    lines = [line for line in description.splitlines() if FORBIDDEN.search(line)]
    return {name for line in lines for name in re.findall(r"`([^`]+)`", line)}


def _read(path: Path) -> pd.DataFrame:
    if not path.exists():
        raise NotATable(f"there is no {path.name}")
    return pd.read_csv(path, low_memory=False)


def _targets(
    train: pd.DataFrame, test: pd.DataFrame, sample: pd.DataFrame, ids: list[str], metric: str | None
) -> tuple[Target, ...]:
    names = [name for name in sample if name not in ids]
    if all(name in train for name in names):
        return tuple(Target((name,), train[name], _kind(train[name], metric)) for name in names)
    further = [name for name in train if name not in test]
    if len(further) == 1 and set(train[further[0]].astype(str)) == set(names):
        return (Target(tuple(names), train[further[0]].astype(str), "chances"),)
    if len(further) == 1 and all(re.fullmatch(r"q\d\d", name) for name in names):
        return (Target(tuple(names), train[further[0]], "quantile"),)
    raise NotATable(f"train.csv has no column for {', '.join(names)}")


def _kind(values: pd.Series, metric: str | None) -> Kind:
    is_number = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    if not is_number and metric == "macro_f1" and _has_lists(values):
        return "labels"
    if values.isna().any():
        raise NotATable(f"{values.name} has blanks")
    if values.nunique() < 2:
        raise NotATable(f"{values.name} is the same in all rows")
    if is_number:
        if metric in ("accuracy", "macro_f1"):
            return "label"
        if metric in ("kappa", "concordance"):
            return "grade" if metric == "kappa" else "risk"
        return "chance" if set(values.unique()) == {0, 1} and metric in ("roc_auc", "log_loss") else "number"
    if values.nunique() > max(50, len(values) // 10):
        raise NotATable(f"{values.name} is neither a number nor a label")
    return "label"


def _has_lists(values: pd.Series) -> bool:
    """Whether texts are lists of few different words."""
    lists = values.fillna("").astype(str).str.split()
    return bool(lists.str.len().max() > 1) and lists.explode().nunique() <= 30


def _columns(table: pd.DataFrame, data: Path) -> pd.DataFrame:
    """Numbers as they are, dates in parts, long texts as components, other texts as categories or codes."""
    parts: list[pd.DataFrame] = []
    for name in table:
        column = table[name]
        if column.nunique() < 2:
            continue
        if pd.api.types.is_numeric_dtype(column):
            parts.append(column.astype(float).to_frame())
        elif (dates := _dates(column)) is not None:
            parts.append(_date_parts(dates))
        elif _names_files(column, data):
            known = column.dropna()
            parts.append(_stacked([data / str(path) for path in known], known.index).reindex(column.index))
        elif column.dropna().astype(str).str.count(" ").mean() >= 4:
            parts.append(_components(column.fillna("").astype(str)))
        elif column.nunique() <= CATEGORIES:
            parts.append(column.astype(str).where(column.notna()).astype("category").to_frame())
        else:
            parts.append(pd.Series(pd.factorize(column)[0], index=column.index).astype(float).to_frame())
    return pd.concat(parts, axis=1) if parts else pd.DataFrame(index=table.index)


def _names_files(column: pd.Series, data: Path) -> bool:
    """Whether a column has paths of files, or blanks."""
    first = data / str(column.dropna().iloc[0])
    return first.suffix in _READERS and first.is_file()


def _dates(column: pd.Series) -> pd.Series | None:
    """A column of dates, in whatever way they are written; None if it is not one."""
    known = column.dropna().astype(str)
    if not known.str.match(
        r"\d{4}[-/]\d\d?[-/]\d\d?|\d{8}T\d{4}|\d\d? [A-Z][a-z]{2} \d{4}|\d\d?[./]\d\d?[./]\d{4}"
    ).all():
        return None
    different = pd.Series(known.unique())
    written = different.str.replace(r"(\d\d)\.(\d\d)$", r"\1:\2", regex=True)  # times with a point
    dates = pd.to_datetime(written, errors="coerce", format="mixed")
    return None if dates.isna().mean() > 0.05 else pd.to_datetime(column.map(dict(zip(different, dates, strict=True))))


def _date_parts(dates: pd.Series) -> pd.DataFrame:
    parts = {part: getattr(dates.dt, part) for part in ("year", "month", "day", "dayofweek", "dayofyear", "hour")}
    return pd.DataFrame({**parts, "days": (dates - dates.min()).dt.days}).astype(float)


def _components(texts: pd.Series) -> pd.DataFrame:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(min_df=2, sublinear_tf=True, ngram_range=(1, 2), max_features=50_000).fit_transform(texts)
    count = min(COMPONENTS, words.shape[1] - 1)
    return pd.DataFrame(TruncatedSVD(count, random_state=0).fit_transform(words), index=texts.index)


def _contents(data: Path, ids: pd.Series) -> pd.DataFrame:
    """The values in the files that are named after the rows, in whatever folder, if there are any."""
    files = {path.stem: path for path in sorted(data.rglob("*")) if path.suffix in _READERS}
    if not all(name in files for name in ids):
        return pd.DataFrame(index=ids.index)
    return _stacked([files[name] for name in ids], ids.index)


def _stacked(paths: list[Path], index: pd.Index) -> pd.DataFrame:
    return pd.DataFrame(np.stack([_READERS[path.suffix](path) for path in paths]), index=index)


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
