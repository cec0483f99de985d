"""Preview of the public data for prompts: files, columns and the first rows of tables, and the beginning of texts."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pandas as pd

from podium.text import bounded, format_size

FILES_SHOWN = 8
"""Number of files listed per folder and suffix."""
FILES_COUNTED = 200_000
TABLES_SHOWN = 6
COLUMNS_SHOWN = 40
WHOLE_BYTES = 32 << 20
"""Largest table that is read completely. Larger ones are sampled in pieces from the beginning to the end."""
PIECES = 64
PIECE_BYTES = 128 << 10
COUNTED_BYTES = 256 << 20
"""Largest file whose lines are counted. For larger ones the number is estimated."""
CELL_CHARACTERS = 40


def preview(folder: Path, limit: int, *, name: str = "/home/data") -> str:
    """Return files with sizes and counts, then tables with columns and first rows, in at most `limit` characters."""
    files = [path for path in islice(_files(folder), FILES_COUNTED) if path.name != "description.md"]
    parts = [f"Files in {name}:\n{bounded(_listing(folder, files), limit // 3)}"]
    tables = [path for path in files if path.suffix in (".csv", ".tsv") and path.stat().st_size]
    others = [path for path in files if path.suffix in (".json", ".jsonl", ".txt", ".zip") and path.stat().st_size]
    shown = [*sorted(tables, key=lambda path: (len(path.parts), path))[:TABLES_SHOWN], *others[:3]]
    share = (limit - len(parts[0])) // max(1, len(shown))
    for path in shown:
        parts.append(bounded(f"{path.relative_to(folder)}:\n{_describe(path)}", max(200, share)))
    return bounded("\n\n".join(parts), limit)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_symlink() and not path.exists():
            continue
        if path.is_dir():
            yield from _files(path)
        else:
            yield path


def _listing(folder: Path, files: list[Path]) -> str:
    """Return one line per file; of many similar files, only the first ones and a count."""
    groups: dict[tuple[Path, str], list[Path]] = {}
    for path in files:
        groups.setdefault((path.parent, path.suffix), []).append(path)
    lines = []
    for (parent, suffix), paths in groups.items():
        lines += [f"{path.relative_to(folder)} ({format_size(path.stat().st_size)})" for path in paths[:FILES_SHOWN]]
        if len(paths) > FILES_SHOWN:
            place = "" if parent == folder else f"{parent.relative_to(folder)}/"
            total = format_size(sum(path.stat().st_size for path in paths))
            lines.append(f"... {place}*{suffix}: {len(paths):,} files, {total} in all")
    return "\n".join(lines)


def _describe(path: Path) -> str:
    try:
        if path.suffix in (".csv", ".tsv"):
            return _table(path)
        if path.suffix == ".zip":
            return _archive(path)
        return _lines(path)
    except (OSError, ValueError, zipfile.BadZipFile, pd.errors.ParserError) as error:
        return f"(no preview: {type(error).__name__})"


def _table(path: Path) -> str:
    is_whole = path.stat().st_size <= WHOLE_BYTES
    source = path if is_whole else _sampled(path)
    separator = "\t" if path.suffix == ".tsv" else ","
    table = pd.read_csv(source, sep=separator, low_memory=False, on_bad_lines="error" if is_whole else "skip")
    lines = [f"{_row_count(path)} rows, {table.shape[1]} columns"]
    if not is_whole:
        lines[0] += f" (the statistics below are from a sample of {len(table):,} rows)"
    if table.shape[1] > COLUMNS_SHOWN:
        kinds = Counter(str(kind) for kind in table.dtypes[COLUMNS_SHOWN:])
        lines[0] += f"; the first {COLUMNS_SHOWN} are listed, the types of the others are {dict(kinds)}"
    lines += [f"- {_column(table[name])}" for name in table.columns[:COLUMNS_SHOWN]]
    head = table.iloc[:3, :COLUMNS_SHOWN].map(lambda value: str(value)[:CELL_CHARACTERS])
    return "\n".join([*lines, "First rows:", head.to_csv(index=False).strip()])


def _sampled(path: Path) -> io.BytesIO:
    """Return the header of a large table and complete lines from all parts of it."""
    size = path.stat().st_size
    with path.open("rb") as file:
        found = io.BytesIO()
        found.write(file.readline())
        for place in range(PIECES):
            if place:
                file.seek(place * (size // PIECES))
                file.readline()  # the rest of a line
            found.write(file.read(PIECE_BYTES) + file.readline())
    found.seek(0)
    return found


def _column(column: pd.Series) -> str:
    """Return the type, share of blanks and values of a column."""
    blanks = column.isna().mean()
    known = column.dropna()
    text = f"{str(column.name)[:CELL_CHARACTERS]} ({column.dtype}"
    text += f", {100 * blanks:.0f}% blank)" if blanks else ")"
    distinct = known.nunique()
    if distinct <= 10:
        shares = known.value_counts(normalize=True)
        return text + ": " + ", ".join(f"{str(value)[:20]} {100 * share:.0f}%" for value, share in shares.items())
    if pd.api.types.is_numeric_dtype(known) and not pd.api.types.is_bool_dtype(known):
        return text + f": {known.min():.6g} to {known.max():.6g}, mean {known.mean():.6g}, {distinct} distinct"
    examples = ", ".join(str(value)[:CELL_CHARACTERS] for value in known.unique()[:3])
    return text + f": {distinct} distinct, such as {examples}"


def _row_count(path: Path) -> str:
    size = path.stat().st_size
    with path.open("rb") as file:
        if size <= COUNTED_BYTES:
            return f"{max(0, sum(1 for line in file if line.strip()) - 1):,}"
        sample = file.read(1 << 20)
    return f"about {size * sample.count(bytes([10])) // len(sample):,}"


def _lines(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        text = file.read(4_000)
    if path.suffix == ".json":
        text = _structure(path) or text
    return bounded(text, 1_500)


def _structure(path: Path) -> str | None:
    """Return the structure of a JSON document, or None if it is too large."""
    if path.stat().st_size > 32 << 20:
        return None
    return _shape(json.loads(path.read_text(encoding="utf-8")), depth=0)


def _shape(value: object, depth: int) -> str:
    if isinstance(value, dict):
        if depth > 3:
            return "{...}"
        inner = [f"{str(key)[:CELL_CHARACTERS]}: {_shape(value[key], depth + 1)}" for key in islice(value, 12)]
        return "{" + ", ".join(inner + ([f"... {len(value)} keys"] if len(value) > 12 else [])) + "}"
    if isinstance(value, list):
        return f"[{_shape(value[0], depth + 1)}, ... {len(value)} items]" if value else "[]"
    return repr(value)[:CELL_CHARACTERS]


def _archive(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    return f"archive of {len(names):,} files, such as {', '.join(names[:5])}"
