"""Scrambled public data: code that still gives the same submission did not compute it from the data."""

from __future__ import annotations

import io
import random
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

SAMPLE = "sample_submission"
TABLES = {".csv": ",", ".tsv": "\t"}


def scramble(public: Path, target: Path, ids: str, *, seed: int = 0) -> int:
    """Write a copy of public data with the same names and ids and everything else shuffled.

    Each column of a table is shuffled separately; other files exchange their contents with those of the same kind in
    the same folder, also inside zip archives. Sample submissions are unchanged.

    Args:
        ids: the id column of a submission.

    Returns:
        Number of files that have changed.
    """
    rng = random.Random(seed)
    changed = 0
    for folder in [public, *sorted(path for path in public.rglob("*") if path.is_dir())]:
        inside = target / folder.relative_to(public)
        inside.mkdir(parents=True, exist_ok=True)
        files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
        for name, data in scrambled(files, ids, rng).items():
            (inside / name).write_bytes(data)
            changed += data != files[name]
    shutil.copystat(public, target)
    return changed


def scrambled(files: Mapping[str, bytes], ids: str, rng: random.Random) -> dict[str, bytes]:
    """Scramble the files of one folder."""
    found = dict(files)
    others: dict[str, list[str]] = {}
    for name, data in files.items():
        suffix = Path(name).suffix.lower()
        if Path(name).stem.lower().startswith(SAMPLE):
            continue
        if suffix in TABLES:
            found[name] = _scrambled_table(data, ids, rng, TABLES[suffix])
        elif suffix == ".zip":
            found[name] = _scrambled_archive(data, ids, rng)
        else:
            others.setdefault(suffix, []).append(name)
    for names in others.values():
        for name, source in zip(names, names[1:] + names[:1], strict=True):
            found[name] = files[source]
    return found


def _scrambled_table(data: bytes, ids: str, rng: random.Random, separator: str) -> bytes:
    try:
        table = pd.read_csv(io.BytesIO(data), sep=separator, dtype=str, keep_default_na=False)
    except (ValueError, UnicodeDecodeError):
        return data
    for column in table.columns:
        if column != ids:
            table[column] = rng.sample(list(table[column]), len(table))
    return table.to_csv(index=False, sep=separator).encode()


def _scrambled_archive(data: bytes, ids: str, rng: random.Random) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    except (zipfile.BadZipFile, NotImplementedError):
        return data
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in scrambled(files, ids, rng).items():
            archive.writestr(name, content)
    return out.getvalue()
