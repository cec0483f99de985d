"""The pages: each is there, leads on, and says what it should."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from starlette.testclient import TestClient
from viewed import OTHER, TASK, make_experiment, make_record

from podium.report.imported_results import import_reports
from podium.viewer.app import make_app
from podium.viewer.page_site import Site

RUN = f"/runs/search/{TASK}/0"
VOID = {"meta", "link", "input", "br"}


class Read(HTMLParser):
    """The links and headings of a page; complains about tags that are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.headings: list[int] = []
        self.ids: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        assert "style" not in found and not any(name.startswith("on") for name in found), attrs
        assert tag != "script" or found == {"src": "/static/live.js", "defer": None}
        if tag in ("a", "link") and found.get("href"):
            self.links.append(str(found["href"]))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if "id" in found:
            self.ids.append(str(found["id"]))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open.pop() == tag, f"{tag} is closed but not open"


def test_every_link_leads_to_a_page_and_every_page_obeys_the_policy(pages: TestClient) -> None:
    waiting, seen = ["/"], {"/"}
    while waiting:
        address = waiting.pop()
        answer = pages.get(address)
        assert answer.status_code in (200, 303), f"{address}: {answer.status_code} {answer.text[:300]}"
        assert answer.headers["x-content-type-options"] == "nosniff", address
        assert "default-src 'none'" in answer.headers["content-security-policy"], address
        if answer.headers["content-type"].startswith("text/html"):
            assert "script-src 'self'" in answer.headers["content-security-policy"]
            page = Read(answer.text)
            assert page.headings[0] == 1, address
            assert all(after - before <= 1 for before, after in zip(page.headings, page.headings[1:], strict=False)), (
                address
            )
            assert len(page.ids) == len(set(page.ids)), address
            for link in page.links:
                target = urlsplit(urljoin(address, link))
                assert target.netloc == "", link
                path = target.path + (f"?{target.query}" if target.query else "")
                if path not in seen:
                    seen.add(path)
                    waiting.append(path)
        elif not address.startswith("/static/"):
            assert answer.headers["content-disposition"].startswith("attachment;"), address
            assert "sandbox" in answer.headers["content-security-policy"], address
    for kind in ("/tree/4", "/steps/5/diff", "/steps/5/files", "/save/file", "/leaderboard", "hostile"):
        assert any(kind in address for address in seen), kind


def test_the_list_shows_all_experiments(pages: TestClient) -> None:
    text = pages.get("/").text
    assert "4 experiments" in text
    assert text.index("nested/plain") < text.index(">search<") < text.index("hostile")  # the newest first
    assert "2 of 4 finished" in text and "1 gold" in text and "Unreadable:" in text
    assert "No matching experiments" in pages.get("/?find=nobody").text
    assert ">search<" not in pages.get("/?find=gpt-4o").text


def test_an_experiment_lists_its_runs(pages: TestClient) -> None:
    text = pages.get("/experiments/search").text
    assert "it broke" in text and "not started" in text and "2 tasks × 2 seeds" in text
    assert "50.0 % of tasks with a medal" in text and "run failed (1)" in text and "1 invalid" in text
    assert text.count('class="mark bronze"') == text.count('class="mark gold"') == 1
    only = pages.get("/experiments/search?status=failed").text
    assert "it broke" in only and "gold" not in only.split("<tbody>")[1]
    first = pages.get("/experiments/search?sort=percentile").text.split("<tbody>")[1]
    assert first.index("99") < first.index("72")
    assert pages.get("/experiments/search?sort=nonsense&status='&page=x").status_code == 200
    assert pages.get("/experiments/nobody").status_code == 404


def test_a_run_shows_grade_budget_curve_tree_and_steps(pages: TestClient) -> None:
    text = pages.get(RUN).text
    assert "0.8" in text and "bronze" in text and "42 s of 1 min 40 s" in text and "3 of 50" in text
    assert 'class="limit gold"' in text and "Submission score 0.8, bronze medal" in text
    assert text.count('class="mark tried"') == 3  # the scripts that were judged good
    assert text.count("/tree/4") >= 1 and "Try script 1: print(&#39;one that crashes&#39;)" in text
    assert "validation score 0.79, valid submission" in text and "exit code 1; output of 1" in text
    assert ">Working time<" in text and ">Accuracy (higher is better)<" in text
    assert "below the visible range" in text and 'class="beside"' in text
    assert pages.get(f"/runs/search/{TASK}/9").status_code == 404
    assert pages.get(f"/runs/search/{TASK}/0?step=3").headers["location"] == f"{RUN}/steps/3"


def test_the_tree_grows_with_the_steps(pages: TestClient) -> None:
    assert pages.get(f"{RUN}/tree?step=1").text.count("<circle") < pages.get(f"{RUN}/tree?step=3").text.count("<circle")
    now = pages.get(f"{RUN}/tree").text
    assert "debug 2, score 0.72" in now and "draft 1, buggy" in now and "merge 4, unreviewed" in now
    assert "improve 3, score 0.79, best" in now
    assert pages.get(f"/runs/nested/plain/{TASK}/0/tree").status_code == 404  # that agent keeps none


def test_files_of_a_run_can_be_downloaded(pages: TestClient, experiments: Path) -> None:
    folder = experiments / "search" / TASK / "0"
    for name, file in (("journal", "steps.jsonl"), ("record", "run.json"), ("curve", "curve.json")):
        saved = pages.get(f"{RUN}/save/{name}")
        assert saved.content == (folder / file).read_bytes() and file in saved.headers["content-disposition"]
    assert pages.get(f"{RUN}/tree/1/save").content == b"print('one that crashes')\n" * 3
    for name in ("submission", "log/../../run.json", "../1/run.json", "log/none.eval"):
        assert pages.get(f"{RUN}/save/{name}").status_code == 404


def test_a_script_is_compared_with_its_parent(pages: TestClient) -> None:
    text = unescape(re.sub("</?span[^>]*>", "", pages.get(f"{RUN}/tree/3").text))
    assert "3 lines added, 3 removed" in text
    assert "<del><b></b>print('a first model')</del>" in text
    assert "<ins><b>1</b>print('more features')</ins>" in text
    assert "Changes since" not in pages.get(f"{RUN}/tree/0").text


def test_a_script_shows_plan_output_and_relatives(pages: TestClient) -> None:
    text = pages.get(f"{RUN}/tree/2").text
    assert "the crash is fixed" in text and "output of 2" in text
    assert f"{RUN}/tree/1" in text and f"{RUN}/tree/4" in text and f"{RUN}/steps/3" in text
    assert pages.get(f"{RUN}/tree/99").status_code == 404


def test_a_step_leads_to_its_changes_and_files(pages: TestClient) -> None:
    here = f"/runs/nested/plain/{TASK}/0/steps"
    changes = pages.get(f"{here}/2/diff").text
    assert "<del>-two</del>" in changes and "<ins>+2</ins>" in changes
    assert "1 line added, 1 removed" in changes
    assert "one\ntwo\n" in pages.get(f"{here}/1/files?path=notes.txt").text
    assert "one\n2\n" in pages.get(f"{here}/2/files?path=notes.txt").text
    saved = pages.get(f"{here}/2/save/file?path=notes.txt")
    assert saved.content == b"one\n2\n" and saved.headers["content-type"] == "application/octet-stream"
    assert pages.get(f"{here}/3").status_code == 404
    assert pages.get(f"{here}/2/files?path=absent").status_code == 404


def test_the_leaderboard_filters(pages: TestClient) -> None:
    everyone = pages.get("/leaderboard").text
    assert "nested/plain" in everyone and ">search<" in everyone
    same, other = everyone.split("</section>")[:2]  # those over one task, then the one over two
    assert re.findall(r'data-label="rank">(.*?)<', same) == ["1", "1"] and ">search<" not in same
    assert re.findall(r'data-label="rank">(.*?)<', other) == ["–"] and "2 tasks" in other
    (row,) = re.findall(r"<tr>(?:(?!</tr>).)*>search<.*?</tr>", everyone, re.DOTALL)
    numbers = re.findall(r'<td class="n nowrap" data-label="[^"]*">([\d.]+)</td>', row)
    assert numbers == ["50.0", "0.0", "50.0", "50.0", "35.8"]  # the first seed: a bronze medal, and a run that failed
    assert "2 tasks, 1 seed" in row and "0 of 3" in row
    only = pages.get("/leaderboard?agent=recipes").text.split("<tbody>")[1]
    assert "search" in only and "nested/plain" not in only
    assert "nested/plain" in pages.get("/leaderboard?model=openai/gpt-4o").text.split("<tbody>")[1]
    assert "No matching experiments" in pages.get("/leaderboard?edition=fixed").text
    assert "No matching experiments" in pages.get("/leaderboard?verified=1").text
    suite = pages.get("/leaderboard?suite=mle-bench").text
    assert "1 of 75 tasks" in suite and 'data-label="rank">1<' not in suite


def test_two_experiments_are_compared(pages: TestClient) -> None:
    text = unescape(pages.get("/compare?a=search&b=nested/plain").text)
    assert "No difference in any medal: both have 100.0." in text and "Other differences" in text
    assert "two different experiments" in pages.get("/compare?a=search&b=search").text
    assert "does not exist" in pages.get("/compare?a=search&b=nobody").text


@pytest.mark.parametrize(
    "address", ["/nothing", "/runs/", "/runs/search", "/experiments/", "/runs/search/x/99999999999"]
)
def test_an_unknown_address_gets_an_error_page(pages: TestClient, address: str) -> None:
    answer = pages.get(address)
    assert answer.status_code == 404
    assert "<h1>Not found</h1>" in answer.text


def test_imported_grading_reports_are_experiments_too(tmp_path: Path) -> None:
    flags = ("gold_medal", "silver_medal", "bronze_medal", "above_median", "submission_exists", "valid_submission")
    reports = [
        {"competition_id": task, "score": 0.5, "is_lower_better": False, **dict.fromkeys(flags, task == TASK)}
        for task in (TASK, OTHER)
    ]
    file = tmp_path / "report.json"
    file.write_text(json.dumps({"competition_reports": reports}))
    import_reports(file, tmp_path / "root" / "theirs", agent="theirs")
    make_record(tmp_path / "root" / "ours", make_experiment(tmp_path / "root" / "ours"))
    site = Site(tmp_path / "root", file=tmp_path / "index.sqlite")
    with TestClient(make_app(site), base_url="http://localhost") as pages:
        assert "2 imported" in pages.get("/").text
        experiment = pages.get("/experiments/theirs").text
        assert "Imported grading reports" in experiment and "gold" in experiment and "/runs/" not in experiment
        assert pages.get(f"/runs/theirs/{TASK}/0").status_code == 404
        assert "50.0" in pages.get("/leaderboard?agent=theirs").text
        assert "imported: budget" in pages.get("/compare?a=theirs&b=ours").text


def test_a_task_shows_goal_leaderboard_and_every_run(pages: TestClient) -> None:
    text = unescape(pages.get(f"/tasks/{TASK}").text)
    assert "Spaceship Titanic" in text and "Accuracy, higher is better" in text and "Gold: from 0.81903" in text
    assert text.count('class="zone ') == 4 and text.count('<circle class="mark c') == 3
    assert "search, seed 1: 0.95, percentile 99 (outside the visible range)" in text
    assert "carried to another dimension" in text and "<td>where the passenger embarked</td>" in text
    assert re.findall(r'data-label="rank">(.*?)<', text) == ["1", "2", "2", "2"]
    assert "The data is not prepared" in text and ">Working time<" in text
    assert "<h2>" not in text.split('class="brief"')[1]
    agents = pages.get(f"/tasks/{TASK}?group=agent").text
    assert '<span class="swatch c1"></span>command' in agents
    listed = pages.get("/tasks").text
    assert f"/tasks/{TASK}" in listed and f"/tasks/{OTHER}" in listed
    assert pages.get("/tasks/nobody").status_code == 404


def test_runs_of_different_forms_are_ranked_separately(tmp_path: Path) -> None:
    plan = make_experiment(tmp_path / "root" / "mixed", seeds=3)
    make_record(tmp_path / "root" / "mixed", plan, score=0.7)
    make_record(tmp_path / "root" / "mixed", plan, seed=1, score=0.9, miniature=True)
    make_record(tmp_path / "root" / "mixed", plan, seed=2, score=0.8)
    site = Site(tmp_path / "root", file=tmp_path / "index.sqlite")
    with TestClient(make_app(site), base_url="http://localhost") as pages:
        real = pages.get(f"/tasks/{TASK}").text
        assert re.findall(r'data-label="score">(.*?)<', real) == ["0.8", "0.7"] and "real data (2)" in real
        fabricated = pages.get(f"/tasks/{TASK}?form=edition v1, fabricated miniature").text
        assert re.findall(r'data-label="score">(.*?)<', fabricated) == ["0.9"]


def test_experiments_are_grouped_by_agent_or_model(tmp_path: Path) -> None:
    make_experiment(tmp_path / "root" / "mine")
    make_experiment(tmp_path / "root" / "other", agent="aide")
    site = Site(tmp_path / "root", file=tmp_path / "index.sqlite")
    with TestClient(make_app(site), base_url="http://localhost") as pages:
        by_agent = pages.get("/?group=agent").text
        assert by_agent.index("<h2>aide</h2>") < by_agent.index(">other<") < by_agent.index(">mine<")
        assert "<h2>No model</h2>" in pages.get("/?group=model").text
        assert "<h2>" not in pages.get("/?group=name").text
