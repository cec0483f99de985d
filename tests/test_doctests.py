"""Doctests of all metrics and functions of the Python API."""

from __future__ import annotations

import doctest
import inspect
from pathlib import Path
from typing import Any

import pytest

from podium import api, metrics

METRICS = {name: getattr(metrics, name).function for name in metrics.__all__}
FUNCTIONS = {
    name: value
    for name, value in vars(api).items()
    if inspect.isfunction(value) and value.__module__ == api.__name__ and not name.startswith("_")
}


@pytest.mark.parametrize(("name", "documented"), (METRICS | FUNCTIONS).items(), ids=[*METRICS, *FUNCTIONS])
def test_doctest_exists_and_passes(name: str, documented: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (example,) = doctest.DocTestFinder(recurse=False).find(inspect.unwrap(documented), name, globs={})
    assert example.examples
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert not report, "".join(report)
