"""Curves: what runs would have been worth had they ended earlier."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from making import entry, row

from podium.errors import PodiumError
from podium.report.curves import overall, read_curves


def point(at: float, medal: str | None, percentile: float | None = None, **changes: Any) -> dict[str, Any]:
    used = {"working_s": at, "tokens": 0, "steps": int(at)}
    return {"used": used, "valid": True, "score": 1.0, "medal": medal, "percentile": percentile} | changes


def write(folder: Path, points: list[dict[str, Any]]) -> Path:
    folder.mkdir()
    (folder / "curve.json").write_text(json.dumps(points))
    return folder


def test_a_curve_follows_the_newest_submission_of_every_run(tmp_path: Path) -> None:
    first = write(tmp_path / "0", [point(10, None, 20.0), point(30, "gold", 90.0)])
    second = write(tmp_path / "1", [point(20, "bronze", 60.0), point(40, None, None, valid=False, score=None)])
    rows = [row("x", 0, folder=first), row("x", 1, folder=second), row("x", 2, folder=tmp_path / "2")]
    curves = read_curves(entry("one", rows))
    assert len(curves) == 2
    found = overall(curves, "working_s")
    assert found is not None
    assert found.x == (10.0, 20.0, 30.0, 40.0)
    assert found.any_medal == (0.0, 50.0, 100.0, 50.0)
    assert found.percentile == (10.0, 40.0, 75.0, 45.0)


def test_nothing_is_drawn_along_an_axis_that_nothing_happens_on(tmp_path: Path) -> None:
    folder = write(tmp_path / "0", [point(10, None), point(30, "gold")])
    assert overall(read_curves(entry("one", [row("x", folder=folder)])), "tokens") is None
    assert overall([], "working_s") is None


def test_long_curves_are_thinned(tmp_path: Path) -> None:
    folder = write(tmp_path / "0", [point(float(at), "gold" if at > 500 else None) for at in range(1000)])
    found = overall(read_curves(entry("one", [row("x", folder=folder)])), "steps")
    assert found is not None
    assert len(found.x) <= 200
    assert (found.any_medal[0], found.any_medal[-1]) == (0.0, 100.0)


def test_a_damaged_curve_says_so(tmp_path: Path) -> None:
    (tmp_path / "curve.json").write_text("[{}]")
    with pytest.raises(PodiumError, match="damaged"):
        read_curves(entry("one", [row("x", folder=tmp_path)]))
