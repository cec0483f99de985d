"""Compares Podium with recorded results of MLE-bench, competition by competition.

    python scripts/check_fidelity.py RECORDS [ID ...] [--seed 0]

RECORDS holds a folder per competition: `make_raw.py` (writes raw data from a seed), `make_submissions.py` (writes
submissions from prepared data) and `expected-SEED.json` (what MLE-bench made of both). Prints a line per competition
and every difference; exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import math
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import podium
from podium.data.formats.archives import extract


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path)
    parser.add_argument("ids", nargs="*")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    ids = arguments.ids or sorted(path.name for path in arguments.records.iterdir())
    failed = 0
    for task_id in ids:
        try:
            differences = list(compare(arguments.records / task_id, task_id, arguments.seed))
        except podium.PodiumError as error:
            differences = [str(error)]
        failed += bool(differences)
        print(f"{task_id}: {'same' if not differences else f'{len(differences)} differences'}", flush=True)
        for difference in differences[:12]:
            print(f"    {difference}")
    print(f"{len(ids) - failed} of {len(ids)} competitions agree with MLE-bench")
    sys.exit(1 if failed else 0)


def compare(record: Path, task_id: str, seed: int) -> Iterator[str]:
    """Every difference between what MLE-bench recorded and what Podium does."""
    expected = json.loads((record / f"expected-{seed}.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        raw, out = folder / "raw", folder / "submissions"
        raw.mkdir()
        out.mkdir()
        _load(record / "make_raw.py").make_raw(raw, seed)
        before = _listing(raw)
        place = podium.prepare(task_id, raw=raw, data_dir=folder / "data").place
        if _listing(raw) != before:
            yield "the raw folder was changed"
        yield from _compare_files(expected["prepared"], place.root, folder)
        _load(record / "make_submissions.py").make_submissions(place.public, place.private, out, seed)
        yield from _compare_scores(expected["submissions"], task_id, out, folder / "data")


def _compare_files(expected: dict[str, Any], root: Path, folder: Path) -> Iterator[str]:
    found = {
        str(path.relative_to(root))
        for part in ("public", "private")
        for path in (root / part).rglob("*")
        if path.is_file() and path.name != "description.md"
    }
    for name in sorted(found - expected.keys()):
        yield f"{name}: not made by MLE-bench"
    for name, facts in expected.items():
        if name not in found:
            yield f"{name}: missing"
        elif not _same(root / name, facts, folder):
            yield f"{name}: differs"


def _same(path: Path, facts: dict[str, Any], folder: Path) -> bool:
    if "csv_md5" in facts:
        import pandas as pd

        return _md5(pd.read_parquet(path).to_csv().encode()) == facts["csv_md5"]
    for kind in ("zip", "tar", "7z"):
        if kind in facts:
            return _members(path, kind, folder) == facts[kind]
    return bool(_md5(path.read_bytes()) == facts["md5"])


def _members(path: Path, kind: str, folder: Path) -> dict[str, str]:
    if kind == "zip":
        with zipfile.ZipFile(path) as archive:
            return {name: _md5(archive.read(name)) for name in archive.namelist() if not name.endswith("/")}
    if kind == "tar":
        with tarfile.open(path) as tar:
            return {member.name: _md5(tar.extractfile(member).read()) for member in tar if member.isfile()}  # type: ignore[union-attr]
    with tempfile.TemporaryDirectory(dir=folder) as target:
        extract(path, Path(target))
        files = [file for file in Path(target).rglob("*") if file.is_file()]
        return {str(file.relative_to(target)): _md5(file.read_bytes()) for file in files}


def _compare_scores(expected: dict[str, Any], task_id: str, out: Path, data_dir: Path) -> Iterator[str]:
    """Well-formed submissions (00-49) must score the same, refused ones be refused, nothing may crash."""
    for name, facts in expected.items():
        well_formed = int(name[:2]) < 50
        try:
            grade = podium.grade(task_id, out / name, data_dir=data_dir)
        except Exception as error:  # noqa: BLE001 (crashes are what this looks for)
            yield f"{name}: crashed with {type(error).__name__}: {error}"
            continue
        if facts["valid"] and not well_formed:
            continue
        if facts["valid"] and not grade.valid:
            yield f"{name}: refused ({grade.error}), MLE-bench scored {facts['score']}"
        elif facts["valid"] and not _equal(grade.score_rounded, facts["score"]):
            twin = _unshuffled(out / name)
            if twin and podium.grade(task_id, twin, data_dir=data_dir).score_rounded == grade.score_rounded:
                continue  # MLE-bench depends on the order of rows here, Podium does not
            yield f"{name}: {grade.score_rounded}, MLE-bench scored {facts['score']}"
        elif not facts["valid"] and grade.valid and facts["why"] == "rejected":
            yield f"{name}: scored {grade.score_rounded}, MLE-bench refused it"


def _unshuffled(path: Path) -> Path | None:
    """The submission that a shuffled one was made from."""
    for ending in ("_shuffled", "_sorted_by_id"):
        if path.stem.endswith(ending):
            return next(iter(path.parent.glob(f"[0-9][0-9]_{path.stem[3:].removesuffix(ending)}.csv")), None)
    return None


def _equal(score: float | None, expected: Any) -> bool:
    value = float(str(expected).replace("Infinity", "inf"))
    return score is not None and (score == value or math.isclose(score, value, abs_tol=1.01e-5))


def _listing(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path.relative_to(folder)), path.stat().st_size) for path in folder.rglob("*"))


def _md5(content: bytes) -> str:
    return hashlib.md5(content).hexdigest()


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
