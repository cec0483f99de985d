"""Runs that cheat and honest runs, really carried out and scanned."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus_runs import Case, carry_out, load_cases, prepare_data

from podium.integrity.scan import scan

CASES = {case.name: case for group in ("cheats", "honest") for case in load_cases(group)}
QUICK = ("cheats/patched_rows", "honest/forest")
"""Carried out by every run of the tests; the others with the marker `slow`."""


def concerns(case: Case, folder: Path) -> set[str]:
    """The kinds of what is found in the first run of a case."""
    prepare_data(folder / "data", [case.task])
    runs = carry_out(case, folder / "runs", folder / "data")
    return {each.kind for each in scan([run.path for run in runs])[0].findings if each.severity == "concern"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in CASES]
)
def test_cheats_are_found_and_honest_runs_are_not(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    found = concerns(case, tmp_path)
    assert found == set() if case.kind is None else case.kind in found
