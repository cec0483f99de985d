"""Reading tables, and writing predictions in the form of the sample submission."""

import io
import zipfile
from typing import Any

import numpy as np
import pandas as pd

from podium.agents.recipes.kit.environment import DATA


def read_table(file: str, **options: Any) -> pd.DataFrame:
    """A table of the public data."""
    if file.endswith(".parquet"):
        return pd.read_parquet(DATA / file)
    if file.endswith(".json"):
        return pd.read_json(DATA / file)
    if file.endswith((".jsonl", ".ndjson")):
        return pd.read_json(DATA / file, lines=True)
    separator = "\t" if ".tsv" in file else ","
    table: pd.DataFrame = pd.read_csv(open_table(file), sep=separator, low_memory=False, **options)
    return table


def open_table(file: str) -> io.BytesIO:
    """The content of a table, which may lie in an archive."""
    if file.endswith(".7z"):
        import py7zr

        with py7zr.SevenZipFile(DATA / file) as archive:
            return io.BytesIO(next(iter(archive.readall().values())).read())
    if file.endswith(".zip"):
        with zipfile.ZipFile(DATA / file) as archive:
            name = next(name for name in archive.namelist() if not name.startswith("__MACOSX"))
            return io.BytesIO(archive.read(name))
    return io.BytesIO((DATA / file).read_bytes())


def read_sample(file: str) -> pd.DataFrame:
    """The sample submission, every cell as it is written."""
    return pd.read_csv(open_table(file), dtype=str, keep_default_na=False)


def write_submission(sample: pd.DataFrame, ids: list[str], keys: pd.DataFrame | None, values: dict[str, Any]) -> None:
    """Writes the sample with its targets replaced.

    Args:
        keys: the ids of the rows that were predicted, in their order; None if that is the sample's.
        values: of every target, a value for each of those rows.
    """
    rows = np.arange(len(sample))
    if keys is not None:
        place = pd.Series(np.arange(len(keys)), index=pd.MultiIndex.from_frame(keys[ids].astype(str)))
        place = place[~place.index.duplicated()]
        rows = place.reindex(pd.MultiIndex.from_frame(sample[ids])).to_numpy()
    known = ~np.isnan(rows)
    filled = sample.copy()
    for target, column in values.items():
        new = filled[target].astype(object).to_numpy()
        new[known] = np.asarray(column, dtype=object)[rows[known].astype(int)]
        filled[target] = new
    filled.to_csv("submission.csv", index=False)


def save_predictions(
    truth: np.ndarray, oof: np.ndarray, guess: np.ndarray, rows: np.ndarray, keys: pd.DataFrame | None
) -> None:
    """Leaves predictions for scripts that blend them: of train rows by models that had not seen them, and of test."""
    ids = np.zeros((0, 0), dtype=str) if keys is None else keys.to_numpy(str)
    np.savez("predictions.npz", truth=truth, oof=oof, guess=guess, rows=rows, keys=ids)
