"""Curves: what runs would have been worth had they ended earlier."""

from __future__ import annotations

from pathlib import Path

from making import row

from podium.grading.grade import Grade
from podium.report.score_curves import overall, read_curves
from podium.runs.records import CurvePoint
from podium.runs.run_folder import RunFolder
from podium.task import Medal
from podium.workspace.budget import Usage


def point(at: float, medal: Medal | None, percentile: float | None = None, *, valid: bool = True) -> CurvePoint:
    grade = Grade("x", "v1", valid=valid, score=1.0 if valid else None, medal=medal, percentile=percentile)
    return CurvePoint(line=1, submission="", usage=Usage(working_s=at, steps=int(at)), grade=grade)


def write(folder: Path, points: list[CurvePoint]) -> Path:
    folder.mkdir()
    RunFolder(folder).write_curve(tuple(points))
    return folder


def test_a_curve_follows_the_newest_submission_of_every_run(tmp_path: Path) -> None:
    first = write(tmp_path / "0", [point(10, None, 20.0), point(30, "gold", 90.0)])
    second = write(tmp_path / "1", [point(20, "bronze", 60.0), point(40, None, valid=False)])
    rows = [row("x", 0, folder=first), row("x", 1, folder=second), row("x", 2, folder=tmp_path / "2")]
    curves = read_curves(rows)
    assert len(curves) == 2
    found = overall(curves, "working_s")
    assert found is not None
    assert found.x == (10.0, 20.0, 30.0, 40.0)
    assert found.any_medal == (0.0, 50.0, 100.0, 50.0)
    assert found.percentile == (10.0, 40.0, 75.0, 45.0)


def test_nothing_is_drawn_along_an_axis_that_nothing_happens_on(tmp_path: Path) -> None:
    folder = write(tmp_path / "0", [point(10, None), point(30, "gold")])
    assert overall(read_curves([row("x", folder=folder)]), "tokens") is None
    assert overall([], "working_s") is None


def test_long_curves_are_thinned(tmp_path: Path) -> None:
    folder = write(tmp_path / "0", [point(float(at), "gold" if at > 500 else None) for at in range(1000)])
    found = overall(read_curves([row("x", folder=folder)]), "steps")
    assert found is not None
    assert len(found.x) <= 200
    assert (found.any_medal[0], found.any_medal[-1]) == (0.0, 100.0)


def test_a_damaged_curve_is_reported_and_the_others_count(tmp_path: Path) -> None:
    sound = write(tmp_path / "sound", [point(10, None), point(20, "gold")])
    damaged = write(tmp_path / "damaged", [])
    (damaged / "curve.json").write_text('[{"line": 1, "submission": "", "usage": {}, "grade": {}}]')
    curves = read_curves([row("x", 0, folder=damaged), row("x", 1, folder=sound)])
    assert "curve.json is damaged" in (curves[0].error or "")
    found = overall(curves, "working_s")
    assert found is not None
    assert found.runs == 1
    assert found.any_medal == (0.0, 100.0)
