"""Why runs ended as they did, against what a person calls it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from corpus_runs import call
from failing_runs import Labelled, labelled

from podium.integrity.failure_modes import classify_run
from podium.integrity.scan_evidence import read_evidence
from podium.report.rendering.html_report import render
from podium.report.report_document import make_report

ALL = labelled()
QUICK = [next(each for each in ALL if each.mode == mode) for mode in ("debugging", "response format")]


def test_the_labelled_set_is_large_enough() -> None:
    counts = Counter(each.mode for each in ALL)
    assert len(ALL) >= 60
    assert len(counts) == 7
    assert min(counts.values()) >= 7


@pytest.mark.parametrize("run", QUICK, ids=lambda run: run.name)
def test_rules_classify_runs(run: Labelled, tmp_path: Path, spaceship_data: Path) -> None:
    found = classify_run(read_evidence(run.make(tmp_path / "run", spaceship_data)))
    assert (found.mode, bool(found.reason)) == (run.mode, True)


@pytest.mark.slow
def test_rules_agree_with_people(tmp_path: Path, spaceship_data: Path) -> None:
    told = {
        each.name: classify_run(read_evidence(each.make(tmp_path / str(n), spaceship_data))).mode
        for n, each in enumerate(ALL)
    }
    wrong = {each.name: told[each.name] for each in ALL if told[each.name] != each.mode}
    assert len(wrong) <= 0.05 * len(ALL), wrong


def test_reports_show_the_modes_that_the_command_wrote(
    tmp_path: Path, spaceship_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planless = next(each for each in ALL if each.mode == "bad plan")
    experiment = planless.make(tmp_path / "run", spaceship_data).experiment
    assert call("integrity", "failures", experiment, "--json") == 0
    assert [run["mode"] for run in json.loads(capsys.readouterr().out)["runs"]] == ["bad plan"]
    page = render(make_report([experiment]))
    assert "Failure modes" in page
    assert "No program led to a valid submission." in page
