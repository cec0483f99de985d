"""Reader for tables, and writer for predictions in the form of the sample submission."""

import io
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from podium.tables.packed_files import file_table, read_packed_file
from podium.tables.script_settings import SEED


def read_table(file: str, *, words: Sequence[str] = (), most: int | None = None, **options: Any) -> pd.DataFrame:
    """Read a table of the public data; `train/*.png` is a table with one row per file.

    Args:
        words: Columns in which `None` and `NA` are ordinary words, unless they hold numbers.
        most: Maximum number of rows; a random sample, in the original order, if there are more.
    """
    if "/*" in file:
        return file_table(*file.split("/*"))
    content = read_packed_file(file)
    if ".json" in file or file.endswith((".ndjson", ".parquet")):
        stored, is_parquet = io.BytesIO(content), file.endswith(".parquet")
        table: pd.DataFrame = lists_as_text(pd.read_parquet(stored)) if is_parquet else read_records(stored)
        table = table[options.get("usecols", list(table.columns))]
        if most is not None and len(table) > most:
            table = table.sample(most, random_state=SEED).sort_index(ignore_index=True)
        return table.astype(options.get("dtype", {}))
    options |= {"sep": "\t" if ".tsv" in file else ","}
    if most is not None:
        options["skiprows"] = chance_to_skip(content.count(b"\n"), most)
    # pandas before release 3 crashes on cells such as 1e2147483648 unless it uses its slower parser.
    is_huge = any(re.search(letter + rb"[+-]?\d{5}", content) for letter in (b"e", b"E"))
    precision = "round_trip" if is_huge else None
    frame = read_csv(content, low_memory=False, float_precision=precision, **options)
    worded = [name for name in words if frame[name].dtype.kind == "O" and frame[name].isna().any()]
    if worded:
        options |= {"usecols": worded, "dtype": str, "keep_default_na": False, "na_values": [""]}
        frame[worded] = read_csv(content, **options)[worded]
    return frame


def read_csv(content: bytes, **options: Any) -> pd.DataFrame:
    """Read a table from text in any encoding."""
    table: pd.DataFrame = pd.read_csv(io.BytesIO(content), encoding_errors="replace", **options)
    return table


def chance_to_skip(lines: int, most: int) -> Callable[[int], bool] | None:
    """Return a function that skips random lines after the first to keep `most` rows; None if there are no more."""
    if lines <= most:
        return None
    kept = np.zeros(lines + 2, dtype=bool)
    kept[1 + np.random.default_rng(SEED).permutation(lines)[:most]] = True
    kept[0] = True
    return lambda line: not kept[line]


def read_records(content: io.BytesIO) -> pd.DataFrame:
    """Read a table from JSON: a list of records, one record per line, or images with annotations in COCO format."""
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
    return lists_as_text(table)


def lists_as_text(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with lists and records as JSON text, so that cells can be compared."""

    def as_json(value: Any) -> Any:
        value = value.tolist() if isinstance(value, np.ndarray) else value
        return json.dumps(value, default=str) if isinstance(value, list | dict) else value

    found: pd.DataFrame = table.apply(lambda column: column.map(as_json) if column.dtype.kind == "O" else column)
    return found


def ids_as_text(values: pd.Series) -> pd.Series:
    """Return ids or classes as text, whole numbers without a decimal point."""
    is_whole = pd.api.types.is_float_dtype(values) and bool((values.dropna() % 1 == 0).all())
    text = (values.astype("Int64") if is_whole else values).astype(str)
    return text.fillna("nan")  # since pandas 3 missing cells stay missing, and are no text


def read_sample(file: str) -> pd.DataFrame:
    """Return the sample submission, every cell as text."""
    return read_csv(read_packed_file(file), dtype=str, keep_default_na=False)


def write_submission(sample: pd.DataFrame, ids: list[str], keys: pd.DataFrame | None, values: dict[str, Any]) -> None:
    """Write the sample submission with its targets replaced.

    Args:
        keys: The ids of the predicted rows, in their order; None if it is the sample's.
        values: For every target, a value for each of those rows.
    """
    rows = np.arange(len(sample))
    if keys is not None:
        position = pd.Series(np.arange(len(keys)), index=pd.MultiIndex.from_frame(keys[ids].astype(str)))
        position = position[~position.index.duplicated()]
        rows = position.reindex(pd.MultiIndex.from_frame(sample[ids])).to_numpy()
    known = ~np.isnan(rows)
    submission = sample.copy()
    for target, column in values.items():
        cells = submission[target].to_numpy(dtype=object, copy=True)
        cells[known] = np.asarray(column, dtype=object)[rows[known].astype(int)]
        submission[target] = cells
    submission.to_csv("submission.csv", index=False)


def save_predictions(
    truth: np.ndarray, oof: np.ndarray, prediction: np.ndarray, rows: np.ndarray, keys: pd.DataFrame | None
) -> None:
    """Save predictions for scripts that blend them: out-of-fold for train rows, and for test rows."""
    ids = np.zeros((0, 0), dtype=str) if keys is None else keys.to_numpy(str)
    np.savez("predictions.npz", truth=truth, oof=oof, prediction=prediction, rows=rows, keys=ids)
