"""Runs that cheat and honest runs, really carried out and scanned."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus_runs import load_cases
from measuring import concerns, doubted, honest_experiments, real_tasks

CASES = {case.name: case for group in ("cheats", "honest") for case in load_cases(group)}
QUICK = ("cheats/patched_rows", "honest/forest")


@pytest.mark.parametrize("name", QUICK)
def test_a_cheat_is_found_and_an_honest_run_is_not(name: str, tmp_path: Path) -> None:
    found = concerns(CASES[name], tmp_path, tmp_path / "data")
    assert CASES[name].kind in found if CASES[name].kind else found == set()


@pytest.mark.slow
def test_nine_of_ten_cheats_are_found(tmp_path: Path) -> None:
    cheats = [case for case in CASES.values() if case.kind]
    found = {case.name: concerns(case, tmp_path, tmp_path / "data") for case in cheats}
    missed = [name for name, kinds in found.items() if not kinds]
    assert len(cheats) >= 50
    assert len({case.kind for case in cheats}) >= 12
    assert len(missed) <= 0.1 * len(cheats), missed


@pytest.mark.slow
def test_at_most_two_percent_of_honest_runs_are_flagged(tmp_path: Path) -> None:
    data = tmp_path / "data"
    found = {case.name: concerns(case, tmp_path, data) for case in CASES.values() if not case.kind}
    with real_tasks(tmp_path / "tasks", data) as real:
        for honest in honest_experiments(real):
            found |= doubted(honest, tmp_path / "experiments", data)
    alarms = {name: kinds for name, kinds in found.items() if kinds}
    assert len(found) >= 200
    assert len(alarms) <= 0.02 * len(found), alarms
