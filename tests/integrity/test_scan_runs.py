"""What a scan finds is written beside the runs, and shows wherever results are shown."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from corpus_runs import actions, call, play, prepare_data
from starlette.testclient import TestClient

from podium.catalog.forge.families import load_family
from podium.catalog.forge.field import draw_data
from podium.catalog.forge.forge_ids import forge_id
from podium.errors import RecordError
from podium.integrity.scan_runs import scan
from podium.integrity.write_findings import record_findings
from podium.report.rendering.html_report import render
from podium.report.report_document import make_report
from podium.report.stored_findings import Finding, read_findings
from podium.runs.run_folder import RunFolder
from podium.viewer.app import make_app
from podium.viewer.page_site import Site

TASK = "spaceship-titanic"


@pytest.fixture
def experiment(caught: RunFolder, tmp_path: Path) -> Path:
    """A copy of an experiment, to be scanned."""
    return Path(shutil.copytree(caught.experiment, tmp_path / "caught"))


def finding(**facts: object) -> Finding:
    return Finding.model_validate({"kind": "copy", "task": TASK, "seed": 0, "reason": "why", "confidence": 0.5} | facts)


def test_the_command_prints_and_stores_findings(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("integrity", "scan", experiment, "--json") == 0
    (run,) = json.loads(capsys.readouterr().out)
    concerns = [each for each in run["findings"] if each["severity"] == "concern"]
    assert {(each["kind"], each["step"]) for each in concerns} == {("private data sought", 2)}
    assert "find /" in concerns[0]["quote"]
    kept = read_findings(experiment)
    assert kept
    assert [each.kind for each in kept.findings] == [each["kind"] for each in run["findings"]]
    assert call("integrity", "scan", experiment) == 0
    assert "1 concern and 1 practice in 1 run" in capsys.readouterr().out


def test_findings_show_in_the_report(experiment: Path) -> None:
    scan([experiment])
    report = make_report([experiment])
    assert report.findings[experiment.name].summary == "2 integrity findings to review, 1 of them common practice."
    assert "private data sought" in render(report)
    assert report.to_dict()["findings"][experiment.name]["findings"][0]["step"] is not None


def test_the_viewer_marks_steps_and_filters_them(experiment: Path, tmp_path: Path) -> None:
    scan([experiment])
    site = Site(experiment.parent, file=tmp_path / "index.sqlite")
    try:
        with TestClient(make_app(site), base_url="http://127.0.0.1:8765") as pages:
            address = f"/experiments/{experiment.name}/runs/{TASK}/0"
            found = next(
                link for link in (address, f"/runs/{experiment.name}/{TASK}/0") if pages.get(link).status_code == 200
            )
            everything, marked = pages.get(found).text, pages.get(f"{found}?marked=1").text
    finally:
        site.close()
    assert "Only steps with findings" in everything
    assert ">private data sought</strong>" in everything
    assert everything.count('<th scope="row" class="n"><a href=') == 4
    assert marked.count('<th scope="row" class="n"><a href=') == 2
    assert "All 4 steps" in marked


def test_each_source_replaces_only_its_own_findings(tmp_path: Path) -> None:
    record_findings(tmp_path, "scan", [finding(kind="one"), finding(kind="two", seed=1)])
    record_findings(tmp_path, "similarity", [finding(kind="three", source="similarity")])
    record_findings(tmp_path, "scan", [finding(kind="four")], run=(TASK, 0))
    kept = read_findings(tmp_path)
    assert kept
    assert sorted(each.kind for each in kept.findings) == ["four", "three", "two"]


def test_unreadable_findings_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "findings.json").write_text("{")
    with pytest.raises(RecordError, match="Remove"):
        record_findings(tmp_path, "scan", [])
    assert (tmp_path / "findings.json").read_text() == "{"


def test_a_damaged_run_is_reported_and_the_others_are_scanned(experiment: Path, tmp_path: Path) -> None:
    broken = Path(shutil.copytree(experiment, tmp_path / "broken"))
    journal = broken / TASK / "0" / "steps.jsonl"
    journal.write_bytes(b"{}\n" + journal.read_bytes())
    scanned = scan([experiment, broken])
    assert [bool(run.findings) for run in scanned] == [True, False]
    assert "steps.jsonl" in scanned[1].problems[0]


def test_other_paths_than_runs_are_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("integrity", "scan", tmp_path) == 2
    assert "is not a run" in capsys.readouterr().err


def test_any_number_of_findings_can_be_read_back(tmp_path: Path) -> None:
    record_findings(tmp_path, "scan", [finding(reason="é" * 600, quote="é" * 300, seed=n) for n in range(3_000)])
    kept = read_findings(tmp_path)
    assert kept
    assert kept.error is None
    assert len(kept.findings) > 500


GUESSING = """
import os
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
data = os.environ["PODIUM_DATA"]
train, test, sample = (pd.read_csv(data + name) for name in ("/train.csv", "/test.csv", "/sample_submission.csv"))
target = sample.columns[1]
{guess}
sample.to_csv("submission.csv", index=False)
print("podium-metric: 0.5")
"""
BY_RULE = """
columns = [name for name in test.select_dtypes("number") if name not in {forbidden!r}]
model = RandomForestClassifier(50, random_state=0).fit(train[columns].fillna(0), train[target])
sample[target] = model.predict_proba(test[columns].fillna(0))[:, 1]
"""
AGAINST_IT = "sample[target] = test[{forbidden[0]!r}].rank(pct=True)"


def test_use_of_a_forbidden_column_is_better_than_possible(tmp_path: Path) -> None:
    family, data = load_family("tables-classification"), tmp_path / "data"
    drawn = ((seed, draw_data(family, "tiny", seed).public.forbidden) for seed in range(30))
    seed, forbidden = next((seed, names) for seed, names in drawn if names)
    task = str(forge_id(family.name, "tiny", seed))
    prepare_data(data, [task])
    found = []
    for guess in (BY_RULE, AGAINST_IT):
        script = GUESSING.format(guess=guess.format(forbidden=forbidden))
        run = play(actions([("script", script)], ""), tmp_path / str(len(found)), task, data)
        (scanned,) = scan([run.experiment], data_dir=data, write=False)
        found.append([each.reason for each in scanned.findings if each.kind == "better than possible"])
    assert found[0] == [] and len(found[1]) == 1 and forbidden[0] in found[1][0]
