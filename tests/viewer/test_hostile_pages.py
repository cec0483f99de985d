"""What agents wrote is only shown, never run, and only to this machine."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from viewed import HOSTILE, TASK, Done, make_experiment, make_run

from podium.data.home import locate
from podium.grading.reference import LEADERBOARD_FILE
from podium.runs.experiment import read_experiment
from podium.runs.plan.trusted_plans import remember_plan
from podium.runs.run_folder import write_document
from podium.viewer.app import make_app
from podium.viewer.http_security import is_local
from podium.viewer.page_site import Site

RUN = f"/runs/hostile/{TASK}/0"
ALL = [
    *("/experiments/hostile", RUN, f"{RUN}/steps/1", f"{RUN}/steps/1/diff", f"{RUN}/steps/1/files"),
    *(f"{RUN}/steps/2", f"{RUN}/steps/3", f"{RUN}/steps/4/files", f"{RUN}/steps/4/diff", f"{RUN}/steps/6/files"),
    *(f"{RUN}/steps/5/files?path=page.html", "/?find=%3Cscript%3Ealert(1)", f"{RUN}/%3Cscript%3E"),
    *("/leaderboard?agent=%3Cscript%3E&suite=%22", "/compare?a=%3Cscript%3E&b=%27%22"),
]


@pytest.mark.parametrize("address", ALL)
def test_nothing_an_agent_wrote_is_markup(pages: TestClient, address: str) -> None:
    text = pages.get(address).text
    scripts = re.findall(r"<script[^>]*>", text)
    assert scripts == ['<script src="/static/live.js" defer>']
    assert "<img" not in text and "onerror=alert(1)>" not in text.replace("&gt;", "")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


def test_it_is_all_there_to_be_read(pages: TestClient) -> None:
    text = pages.get(f"{RUN}/steps/1").text.partition("<h2>Observation</h2>")[2]
    assert "&lt;script&gt;document.title" in text
    assert "red⟨07⟩⟨U+202E⟩gnp.exe" in text and "[31m" not in text


@pytest.mark.parametrize("step", [2, 3])
def test_fifty_megabytes_in_a_line_are_cut(pages: TestClient, step: int) -> None:
    for address in (RUN, f"{RUN}/steps/{step}", f"{RUN}/steps/{step}/diff", f"{RUN}/steps/{step}/files"):
        assert len(pages.get(address).content) < 100_000
    whole = pages.get(f"{RUN}/steps/{step}/save/{'observation' if step == 2 else 'step'}")
    assert len(whole.content) >= 50_000_000
    assert whole.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize(
    "path",
    [
        *(
            "../run.json",
            "../../../../etc/passwd",
            "/etc/passwd",
            "link",
            "up/run.json",
            "up/",
            "link/",
            "a/../notes",
            ".",
        ),
        *("..", "%2e%2e/run.json", "..%2frun.json", "\x00", "a\x00b", "..\\run.json", "//", "workspace/../../run.json"),
    ],
)
def test_no_path_leads_out_of_the_snapshot(pages: TestClient, path: str) -> None:
    for page in ("files", "save/file"):
        answer = pages.get(f"{RUN}/steps/6/{page}", params={"path": path})
        assert "root:" not in answer.text and "submission_sha256" not in answer.text
        assert answer.status_code == 404 or "symbolic link" in answer.text


@pytest.mark.parametrize(
    ("step", "path", "content"),
    [
        (2, b"..%252f..%252fetc%252fpasswd", b"not the real one\n"),
        (4, b"a%0Ab%1B%5B2Jc", b"newline"),
        (4, b"%27%20onmouseover%3D%27alert(1)", b"quote"),
        (6, b"caf%E9.txt", b"bytes"),
    ],
)
def test_odd_names_are_names_like_others(pages: TestClient, step: int, path: bytes, content: bytes) -> None:
    address = f"{RUN}/steps/{step}"
    saved = pages.get(f"{address}/save/file?path={path.decode()}")
    assert saved.content == content
    assert re.fullmatch(r'attachment; filename="[\w.-]+"', saved.headers["content-disposition"])
    assert content.decode() in pages.get(f"{address}/files?path={path.decode()}").text


def test_files_are_saved_never_shown_as_pages(pages: TestClient) -> None:
    saved = pages.get(f"{RUN}/steps/5/save/file?path=page.html")
    assert saved.headers["content-type"] == "application/octet-stream"
    assert saved.headers["content-disposition"] == 'attachment; filename="page.html"'
    assert saved.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert HOSTILE.encode() in saved.content
    assert "Binary file" in pages.get(f"{RUN}/steps/5/files?path=zero.bin").text


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        *((name, True) for name in ("127.0.0.1", "127.0.0.1:8765", "localhost:1", "[::1]:8765")),
        *((name, False) for name in ("", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8765")),
        *((name, False) for name in ("127.0.0.1@evil.example", "0.0.0.0", "::1", "localhost:8765:1", "localhost\n")),
    ],
)
def test_only_this_machine_is_answered(pages: TestClient, host: str, allowed: bool) -> None:
    assert is_local(host) is allowed
    if "\n" not in host:
        answer = pages.get("/", headers={"host": host})
        assert answer.status_code == (200 if allowed else 421)
        assert allowed or "hostile" not in answer.text


def test_forms_need_a_valid_token(pages: TestClient, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(site.verifier, "request", lambda *key: asked.append(key))
    right = {"token": site.token.text}
    ours, theirs = {"origin": "http://127.0.0.1:8765"}, {"origin": "http://evil.example"}
    for form, headers in (
        ({}, ours),
        ({"token": "x"}, ours),
        (right, theirs),
        (right, {"origin": "null"}),
        (right, {"sec-fetch-site": "cross-site"}),
    ):
        assert pages.post(f"{RUN}/verify", data=form, headers=headers).status_code == 403
    assert asked == []
    assert pages.get(f"{RUN}/verify").status_code == 404  # no such run, and never by following a link
    answer = pages.post(f"{RUN}/verify", data=right, headers=ours)
    assert answer.status_code == 303 and answer.headers["location"] == f"{RUN}#verified"
    assert len(asked) == 1
    pages.post("/experiments/search/verify", data=right, headers=ours)
    assert len(asked) == 4  # two finished, one failed


FORGED = "forge-graph-medium-107"


@pytest.mark.parametrize("address", [f"/runs/theirs/{FORGED}/0", f"/tasks/{FORGED}"])
def test_data_that_came_with_a_stranger_s_folder_is_not_read(tmp_path: Path, address: str) -> None:
    """Only a plan that was made here says where data lies."""
    planted = {"lower_is_better": False, "scores": [0.87654] * 5}
    place = locate(FORGED, edition="v1", data_dir=tmp_path / "data")
    place.private.mkdir(parents=True)
    (place.private / LEADERBOARD_FILE).write_text(json.dumps(planted))
    make_experiment(tmp_path / "root" / "theirs", tasks=[FORGED])
    document = read_experiment(tmp_path / "root" / "theirs").document
    plan = document.plan.model_copy(update={"data_dir": tmp_path / "data"})
    write_document(tmp_path / "root" / "theirs" / "experiment.json", document.model_copy(update={"plan": plan}))
    make_run(tmp_path / "root" / "theirs", plan, [Done()], task=FORGED)
    site = Site(tmp_path / "root", file=tmp_path / "index.sqlite")
    with TestClient(make_app(site), base_url="http://localhost") as pages:
        assert "0.87654" not in pages.get(address).text
        remember_plan(plan)
        assert "0.87654" in pages.get(address).text
    site.close()
