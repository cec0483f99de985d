"""A small experiment, really run, through report, compare, export and import."""

from __future__ import annotations

import csv
import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from podium.cli import main

TASKS = ("forge-tabular-classification-medium-101", "forge-graph-medium-107")
Call = Callable[..., str]
ATTACK = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31mred\u202e{{7*7}}"


def call_main(*args: object) -> None:
    try:
        main([str(arg) for arg in args])
    except SystemExit as stop:
        if stop.code:
            raise


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs a command that must work; what it printed."""

    def run(*args: object) -> str:
        call_main(*args)
        return capsys.readouterr().out

    return run


@pytest.fixture(scope="session")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tasks, two seeds, the agent that submits the sample."""
    folder = tmp_path_factory.mktemp("runs") / "real"
    call_main("run", *TASKS, "--agent", "baseline", "--seeds", 2, "--curve", "--out", folder, "--json")
    return folder


@pytest.fixture
def copy(experiment: Path, tmp_path: Path) -> Path:
    """The records of that experiment, to be changed."""
    for path in (experiment / "experiment.json", *experiment.glob("*/*/run.json"), *experiment.glob("*/*/curve.json")):
        target = tmp_path / "copy" / path.relative_to(experiment)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(path.read_text())
    return tmp_path / "copy"


def change(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_the_terminal_shows_headline_and_tables(call: Call, experiment: Path) -> None:
    out = call("report", experiment)
    assert "real: baseline. 0.0 ± 0.0 % of tasks with a medal (2 tasks, 2 seeds)" in out
    assert "ROC AUC ↑" in out
    assert "Not verified." in out


def test_json_is_one_document_with_every_run(call: Call, experiment: Path) -> None:
    document = json.loads(call("report", experiment, "--json"))
    found = document["experiments"][0]
    others = dict.fromkeys(("failed", "stopped", "running", "interrupted", "unreadable", "missing"), 0)
    assert found["counts"] == {"planned": 4, "finished": 4, **others}
    assert found["competitions"][0]["measures"]["valid"]["mean"] == 100.0
    assert [run["task"] for run in document["runs"]] == [TASKS[0], TASKS[0], TASKS[1], TASKS[1]]
    assert document["tasks"][TASKS[0]]["ceiling"] > document["tasks"][TASKS[0]]["gold"]


def test_every_key_of_the_documents_is_one_word(call: Call, experiment: Path, copy: Path) -> None:
    """Keys that are names of tasks and experiments aside."""
    (copy / TASKS[0] / "1" / "run.json").write_text("{")
    names = {*TASKS, experiment.name, copy.name}

    def keys(value: Any) -> set[str]:
        if isinstance(value, dict):
            return {*value, *(key for each in value.values() for key in keys(each))}
        return {key for each in value for key in keys(each)} if isinstance(value, list) else set()

    for command in (("report", experiment, copy), ("compare", experiment, copy)):
        found = keys(json.loads(call(*command, "--json"))) - names
        assert [key for key in found if not re.fullmatch("[a-z][a-z0-9_]*", key)] == []


def test_an_unreadable_run_is_stated_and_harms_no_other(call: Call, copy: Path, tmp_path: Path) -> None:
    change(copy / TASKS[0] / "1" / "run.json", score="plenty")
    (copy / TASKS[0] / "0" / "curve.json").write_text("{")
    assert "4 runs planned, of which 1 unreadable" in call("report", copy, "--html", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "Unreadable record" in page
    assert "is not a number" in page
    assert "1 unreadable curve excluded" in page
    assert json.loads(call("report", copy, "--json"))["experiments"][0]["causes"] == {"unreadable_record": 1}


def test_verify_option_checks_every_run(call: Call, experiment: Path) -> None:
    assert "Verified 4 of 4 runs." in call("report", experiment, "--verify")


def test_a_missing_run_is_stated_and_padded_on_request(call: Call, copy: Path) -> None:
    (copy / TASKS[0] / "1" / "run.json").unlink()
    assert "4 runs planned, of which 1 missing" in call("report", copy)
    document = json.loads(call("report", copy, "--pad", "--json"))
    group = document["experiments"][0]["competitions"][0]
    assert group["measures"]["valid"]["per_seed"] == [100.0, 50.0]
    assert "1 missing run counted as failed" in group["note"]


def test_exports_hold_every_run(call: Call, experiment: Path, tmp_path: Path) -> None:
    files = {name: tmp_path / f"all.{name}" for name in ("csv", "parquet", "latex", "markdown")}
    call("report", experiment, *(part for name, path in files.items() for part in (f"--{name}", path)))
    with files["csv"].open() as file:
        rows = list(csv.DictReader(file))
    assert [row["valid"] for row in rows] == ["True"] * 4
    import pyarrow.parquet as pq

    table = pq.read_table(files["parquet"])
    assert table.column("score").to_pylist() == [float(row["score"]) for row in rows]
    assert str(table.schema.field("improvement").type) == "double"
    assert "Any medal" in files["latex"].read_text()
    assert r"0.0 $\pm$ 0.0" in files["latex"].read_text()
    assert "| real | all (2) | 2 | 100.0 ± 0.0 |" in files["markdown"].read_text()


def test_a_grading_report_comes_back_as_it_went(call: Call, experiment: Path, tmp_path: Path) -> None:
    path = tmp_path / "our_grading_report.json"
    call("report", experiment, "--grading-report", path)
    document = json.loads(path.read_text())
    assert document["total_runs"] == document["total_valid_submissions"] == 4
    assert document["competition_reports"][0]["gold_threshold"] > 0
    assert "4 runs of ours on 2 tasks" in call("import", path, "--out", tmp_path / "back", "--agent", "ours")
    again = tmp_path / "again.json"
    call("report", tmp_path / "back", "--grading-report", again)
    names = ("competition_id", "score", "gold_threshold", "median_threshold", "above_median", "valid_submission")
    both = [
        [{name: one[name] for name in names} for one in json.loads(file.read_text())["competition_reports"]]
        for file in (path, again)
    ]
    assert both[0] == both[1]
    assert "No difference in any medal: both have 0.0." in call("compare", experiment, tmp_path / "back")


def test_compare_as_json_has_verdict_and_warnings(call: Call, experiment: Path, copy: Path) -> None:
    for path in copy.glob("*/*/run.json"):
        change(path, medal="gold", above_median=True, percentile=99.0)
    document = json.loads(call("compare", copy, experiment, "--json"))
    assert document["differences"][0]["difference"] == 100.0
    assert document["verdict"].startswith("copy is 100.0 points ahead of real")
    assert {task["task"] for task in document["tasks"]} == set(TASKS)


def test_comparing_a_folder_with_itself_is_refused(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["compare", str(experiment), str(experiment)])
    assert stop.value.code == 2
    assert "same folder" in capsys.readouterr().err


def test_csv_and_terminal_hold_nothing_that_is_obeyed(call: Call, experiment: Path, copy: Path, tmp_path: Path) -> None:
    runs = sorted(copy.glob("*/*/run.json"))
    for path, error in zip(runs, ("@SUM(1)", "-1+1", '=HYPERLINK("http://x")', "\x1b[2J"), strict=True):
        change(path, error=error)
    out = call("report", copy, "--csv", tmp_path / "all.csv") + call("report", copy, "--json")
    hostile = copy.rename(copy.with_name("\x1b[2J"))
    (hostile / "findings.json").write_text('{"\\u001b[2J": 1}')
    out += call("report", experiment, hostile)
    with (tmp_path / "all.csv").open(encoding="utf-8") as file:
        errors = {row["error"] for row in csv.DictReader(file)}
    assert errors == {"'@SUM(1)", "'-1+1", '\'=HYPERLINK("http://x")', "\ufffd[2J"}
    assert "\x1b" not in out


@pytest.fixture
def page(call: Call, experiment: Path, copy: Path, tmp_path: Path) -> str:
    """The page of two experiments, one of them hostile."""
    hostile = copy.rename(copy.with_name("<img src=x onerror=alert(3)>"))
    runs = sorted(hostile.glob("*/*/run.json"))
    nothing = dict.fromkeys(("score", "medal", "above_median", "percentile", "submission_sha256"))
    change(runs[0], valid=False, error=ATTACK, **nothing)
    change(runs[1], status="failed", valid=None, error=ATTACK * 1000, ended_by=ATTACK, **nothing)
    change(
        hostile / "experiment.json",
        plan=json.loads((hostile / "experiment.json").read_text())["plan"] | {"model": ATTACK},
    )
    call("report", experiment, hostile, "--html", tmp_path / "report.html")
    return (tmp_path / "report.html").read_text()


def test_the_page_has_every_part(page: str) -> None:
    parts = ("Medals", "Tasks", "Resource usage", "Failures by cause", "Configuration", "Verification", "Comparison")
    assert [part for part in parts if f">{part}</h2>" not in page] == []
    figures = re.findall(r'<script type="application/json" id="data-([a-z_-]+)">(.*?)</script>', page, re.DOTALL)
    assert {"medals", "strip", "spending", "profiles", "over-working_s"} <= {name for name, _ in figures}
    for name, text in figures:
        assert json.loads(text)["data"], name


def test_the_page_escapes_what_agents_wrote(page: str) -> None:
    body = page[: page.index("plotly.js v")]
    assert "alert(1)" in body
    assert "<script>alert" not in body
    assert "<img" not in body
    assert "\x1b" not in body
    assert "\u202e" not in body
    assert html.escape("<script>alert(1)</script>") in body
    assert len(re.findall(r"alert\(2\)", body)) < 100  # long errors are cut


def test_the_page_needs_nothing_from_elsewhere(page: str) -> None:
    body = page[: page.index("plotly.js v")]
    assert re.findall(r'(?:src|href)="', body) == []
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1])  # type: ignore[index]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "'unsafe-inline'" not in policy.split("style-src")[0]
