"""Reads tables and writes predictions in the form of the sample submission."""

import io
import json
from typing import Any

import numpy as np
import pandas as pd

from podium.recipes.kit.archives import file_table, read_packed_file


def read_table(file: str, **options: Any) -> pd.DataFrame:
    """A table of the public data. `train/*.png` is a table with one row per file."""
    if "/*" in file:
        return file_table(*file.split("/*"))
    if ".json" in file or file.endswith((".ndjson", ".parquet")):
        content = io.BytesIO(read_packed_file(file))
        table: pd.DataFrame = pd.read_parquet(content) if file.endswith(".parquet") else read_records(content)
        table = table[options.get("usecols", list(table.columns))].head(options.get("nrows", len(table)))
        return table.astype(options["dtype"]) if "dtype" in options else table
    separator = "\t" if ".tsv" in file else ","
    frame: pd.DataFrame = pd.read_csv(io.BytesIO(read_packed_file(file)), sep=separator, low_memory=False, **options)
    return frame


def read_records(content: io.BytesIO) -> pd.DataFrame:
    """A table from JSON: a list of records, one record per line, or images with annotations in COCO's format."""
    text = content.read().decode("utf-8", "replace")
    try:
        document = json.loads(text)
    except ValueError:
        document = [json.loads(line) for line in text.splitlines() if line.strip()]
    if isinstance(document, dict) and "images" in document:
        table = pd.DataFrame(document["images"])
        if "annotations" in document:
            notes = pd.DataFrame(document["annotations"]).rename(columns={"id": "annotation_id"})
            table = notes.merge(table.rename(columns={"id": "image_id"}), on="image_id", suffixes=("", "_of_image"))
    elif isinstance(document, dict):
        table = pd.DataFrame([document] if not all(isinstance(one, list) for one in document.values()) else document)
    else:
        table = pd.DataFrame(document)
    return table.map(lambda value: json.dumps(value) if isinstance(value, list | dict) else value)


def read_sample(file: str) -> pd.DataFrame:
    """The sample submission, every cell as text."""
    return pd.read_csv(io.BytesIO(read_packed_file(file)), dtype=str, keep_default_na=False)


def write_submission(sample: pd.DataFrame, ids: list[str], keys: pd.DataFrame | None, values: dict[str, Any]) -> None:
    """Writes the sample submission with its targets replaced.

    Args:
        keys: the ids of the predicted rows, in their order; None if that is the sample's.
        values: for every target, a value for each of those rows.
    """
    rows = np.arange(len(sample))
    if keys is not None:
        position = pd.Series(np.arange(len(keys)), index=pd.MultiIndex.from_frame(keys[ids].astype(str)))
        position = position[~position.index.duplicated()]
        rows = position.reindex(pd.MultiIndex.from_frame(sample[ids])).to_numpy()
    known = ~np.isnan(rows)
    submission = sample.copy()
    for target, column in values.items():
        cells = submission[target].astype(object).to_numpy()
        cells[known] = np.asarray(column, dtype=object)[rows[known].astype(int)]
        submission[target] = cells
    submission.to_csv("submission.csv", index=False)


def save_predictions(
    truth: np.ndarray, oof: np.ndarray, prediction: np.ndarray, rows: np.ndarray, keys: pd.DataFrame | None
) -> None:
    """Saves predictions for scripts that blend them: of train rows out of fold, and of test rows."""
    ids = np.zeros((0, 0), dtype=str) if keys is None else keys.to_numpy(str)
    np.savez("predictions.npz", truth=truth, oof=oof, prediction=prediction, rows=rows, keys=ids)
