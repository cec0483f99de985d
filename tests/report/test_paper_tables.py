"""The tables of a report: what each holds, and that papers get all of them."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

from making import results, row
from rich.console import Console

from podium.report.aggregate import summarise
from podium.report.rendering.html_report import render
from podium.report.rendering.plotly_charts import MAX_POINTS, spending, thinned, threshold_strip
from podium.report.rendering.result_tables import all_tables, competitions_table, improvements_table, latex, markdown
from podium.report.rendering.terminal_report import show_report
from podium.report.report_document import Report
from podium.report.results import Results
from podium.report.score_references import ReferenceScores, find_references
from podium.report.stored_findings import FINDINGS_FILE, read_findings

TASK, OTHER, RESEARCH = "spaceship-titanic", "leaf-classification", "vectorization"


def made(*every: Results, **changes: Any) -> Report:
    references = {task: find_references(task, "v1", None) for each in every for task in each.tasks}
    known: dict[str, Any] = {"profiles": None, "pad": False, "seeds": None, "suite": None, "references": references}
    return Report(results=every, summaries=tuple(summarise(each) for each in every), **known | changes)


def both() -> Report:
    rows = [
        row(TASK, medal="gold", percentile=99.0, score=0.9, cost=1.5, working_s=60.0),
        row(TASK, seed=1, valid=False, score=None, error="it_broke & more"),
        row(OTHER, percentile=10.0, score=3.0, higher_is_better=False),
        row(OTHER, seed=1, percentile=20.0, score=2.0, higher_is_better=False),
        row(RESEARCH, score=2.0, higher_is_better=False, improvement=50.0, beyond_noise=True, cost=0.5),
        row(RESEARCH, seed=1, score=4.5, higher_is_better=False, improvement=-12.5, beyond_noise=False),
    ]
    baseline = ReferenceScores("Vectorize", metric="seconds", higher_is_better=False, baseline=4.0)
    references = {task: find_references(task, "v1", None) for task in (TASK, OTHER)}
    return made(results("one", rows), references={**references, RESEARCH: baseline})


def test_research_rows_have_baseline_and_improvement() -> None:
    assert improvements_table(both())[1:] == [
        [RESEARCH, "one", "seconds ↓", "2 of 2", "4", "2", "+18.8", "+50.0", "1 of 2"]
    ]


def test_papers_get_every_table() -> None:
    titles = [table.title for table in all_tables(both())]
    assert titles == [
        "Medals",
        "Research tasks",
        "Any medal by kind of data (%)",
        "Any medal in the best of k runs (%)",
        "Competitions",
        "Improvement over the baseline",
        "Mean usage per run (total)",
        "Runs without a valid submission, by cause",
    ]
    text = markdown(both())
    assert [line[4:] for line in text.splitlines() if line.startswith("### ")] == titles
    assert f"| {OTHER} | one | Log loss ↓ | 2 of 2 | 2 |" in text and "| Invalid submission | 1 |" in text
    code = latex(both())
    assert code.count(r"\begin{tabular}") == code.count(r"\end{tabular}") == len(titles)
    assert r"Log loss $\downarrow$" in code and r"\begin{tabular}{lllrrrrrr}" in code


def test_every_format_lists_planned_runs_without_a_result() -> None:
    """Also where the same seed is missing everywhere, so that all others are complete."""
    states = ("finished", "interrupted", "missing", "unreadable")
    rows = [row(task, seed, status=state) for task in (TASK, OTHER) for seed, state in enumerate(states)]  # type: ignore[arg-type]
    report = made(results("one", rows))
    said = "one: 8 runs planned, of which 2 not started, 2 interrupted. Only complete seeds count"
    unread = "one: 2 unreadable records counted as failed."
    for text in (markdown(report), latex(report), render(report)):
        assert said in text and unread in text
    assert "runs planned" not in markdown(both())


def test_a_task_s_percentile_counts_failures_as_zero_and_its_best_score_is_the_best() -> None:
    rows = [
        row(TASK, 0, status="failed", submitted=False, valid=False, score=None, higher_is_better=None),
        row(TASK, 1, score=0.7, percentile=40.0),
        row(TASK, 2, score=0.9, percentile=80.0),
    ]
    report = made(results("one", rows))
    [line] = competitions_table(report)[1:]
    assert line[3:7] == ["2 of 3", "0.9", "-", "40.0"]
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(show_report(report))
    assert re.search(r"run failed, 0.7, 0.9 +- +40 ", console.export_text())


def test_the_page_shows_costs_of_medals_and_of_improvements() -> None:
    report = both()
    assert (spending(report.results) or ("", ""))[1] == "dollars"
    assert (spending(report.results, research=True) or ("", ""))[1] == "dollars"
    page = render(report)
    assert 'id="chart-spending"' in page and 'id="chart-spending-research"' in page
    assert "Improvement vs. dollars" in page and ">+18.8<" in page and "Integrity findings" not in page


def test_a_chart_of_too_many_runs_is_thinned() -> None:
    rows = [row(TASK, seed=seed, percentile=float(seed), score=seed / 1000) for seed in range(MAX_POINTS + 1)]
    assert [each.seed for each in thinned(rows)] == [0, 500, 1000, 1500, 2000]
    assert thinned(rows[:-1]) == rows[:-1]
    figure = threshold_strip([results("one", rows)], {TASK: find_references(TASK, "v1", None)})
    assert figure is not None and len(figure.data[0].x) == 5


def test_findings_are_shown_if_the_experiment_was_scanned(tmp_path: Path) -> None:
    assert read_findings(tmp_path) is None
    hostile = "<script>x</script>"
    facts = {"task": TASK, "seed": 0, "reason": hostile}
    listed = [
        {"kind": "constants", "confidence": 0.2, **facts},
        {"kind": "answers looked up", "confidence": 0.9, "step": 3, "file": "code/a.py", "line": 7, **facts},
    ]
    (tmp_path / FINDINGS_FILE).write_text(json.dumps({"findings": listed}))
    found = read_findings(tmp_path)
    assert found is not None and [each.kind for each in found.findings] == ["answers looked up", "constants"]
    assert found.findings[0].place == f"{TASK}/0, step 3, code/a.py:7" and found.of_run(TASK, 1) == []
    report = made(results("one", [row()]), findings={"one": found})
    page = render(report)
    assert "2 integrity findings to review." in page and hostile not in page
    assert report.to_dict()["findings"]["one"]["findings"][0]["step"] == 3
    (tmp_path / FINDINGS_FILE).write_text("[]")
    broken = read_findings(tmp_path)
    assert broken is not None and "cannot be read" in broken.summary
