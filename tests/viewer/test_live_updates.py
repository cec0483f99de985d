"""Pages that are open hear of changes, over a real connection."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import uvicorn
from starlette.testclient import TestClient
from viewed import TASK, make_experiment, make_record

from podium.report.results import RunKey
from podium.runs.records import Progress
from podium.viewer import web_server as server_module
from podium.viewer.app import make_app
from podium.viewer.index.verify_requests import Verifier
from podium.viewer.page_site import Site


@pytest.fixture
def root(tmp_path: Path) -> Path:
    make_experiment(tmp_path / "root" / "first", seeds=2)
    return tmp_path / "root"


@pytest.fixture
def site(root: Path, tmp_path: Path) -> Site:
    return Site(root, file=tmp_path / "index.sqlite")


@pytest.fixture
def address(site: Site) -> Iterator[str]:
    """Where the pages are served."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()  # so that whoever comes before the server is ready waits
    server = uvicorn.Server(uvicorn.Config(make_app(site), log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    site.closing.set()
    server.should_exit = True
    thread.join()
    listener.close()


def events(lines: Iterator[str], count: int) -> list[str]:
    """The next events of a stream."""
    found = []
    for line in lines:
        if line.startswith("data: "):
            found.append(line)
            if len(found) == count:
                break
    return found


@pytest.mark.parametrize("page", ["/", "/experiments/first", f"/runs/first/{TASK}/0"])
def test_a_change_sends_one_event(root: Path, site: Site, address: str, page: str) -> None:
    plan = make_experiment(root / "first", seeds=2)
    run = make_record(root / "first", plan, status="running", score=None)
    site.index.refresh(now=True)
    text = httpx.get(address + page, timeout=600).text
    live, since = (text.partition(f'data-{name}="')[2].partition('"')[0] for name in ("live", "since"))
    with httpx.stream("GET", f"{address}{live}", params={"since": since}, timeout=600) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        assert next(lines) == "retry: 2000"
        if page != "/":
            run.journal.write_text("{}\n")
            assert len(events(lines, 1)) == 1
        make_record(root / "first", plan, status="finished")
        assert len(events(lines, 1)) == 1
    fresh = httpx.get(address + page, timeout=600).text
    assert "finished" in fresh and f'data-since="{since}"' not in fresh


def test_the_page_of_a_run_follows_its_phase(root: Path, site: Site) -> None:
    run = make_record(root / "first", make_experiment(root / "first", seeds=2), status="running", score=None)
    key = RunKey("first", TASK, 0)
    before = site.change_tokens.of_run(key)
    run.write(run.progress, Progress(phase="computing"))
    assert site.change_tokens.of_run(key) != before
    site.close()


def test_who_missed_a_change_hears_at_once(address: str) -> None:
    for headers, params in (({}, {"since": "something old"}), ({"last-event-id": "x"}, {})):
        with httpx.stream("GET", f"{address}/live", params=params, headers=headers, timeout=600) as answer:
            assert events(answer.iter_lines(), 1)


def test_streams_end_with_the_server(site: Site, address: str) -> None:
    with httpx.stream("GET", f"{address}/live/experiments/first", timeout=600) as answer:
        lines = answer.iter_lines()
        next(lines)
        site.closing.set()
        assert list(lines) is not None  # it ends


def test_verification_can_be_requested_and_is_shown(root: Path, site: Site) -> None:
    plan = make_experiment(root / "first", seeds=2)
    make_record(root / "first", plan)
    asked: list[Path] = []
    may_go = threading.Event()

    def verify(folder: Path) -> dict[str, str]:
        asked.append(folder)
        may_go.wait(600)
        return {"journal": "ok", "grade": "<b>it differs</b>"}

    site.verifier.close()
    site.verifier = site.change_tokens._verifier = Verifier(site.index, verify)
    with TestClient(make_app(site), base_url="http://localhost", follow_redirects=True) as pages:
        here = f"/runs/first/{TASK}/0"
        assert "has not been verified" in pages.get(here).text
        for _ in range(2):  # the second time it is already on its way
            assert "Verifying the journal" in pages.post(f"{here}/verify", data={"token": site.token.text}).text
        assert "Verifying 1 run" in pages.get("/experiments/first").text
        may_go.set()
        deadline = time.monotonic() + 600
        while site.verifier.is_waiting(RunKey("first", TASK, 0)) and time.monotonic() < deadline:
            time.sleep(0.01)
        text = pages.get(here).text
        assert "Verification failed" in text and "same result: &lt;b&gt;it differs" in text
        assert len(asked) == 1
        assert "1 failed" in pages.get("/experiments/first").text


def test_a_run_without_a_journal_does_not_verify(root: Path, site: Site) -> None:
    run = make_record(root / "first", make_experiment(root / "first"))
    checks = site.verifier._in_a_process(run.path)
    assert "no journal" in checks["journal"]
    site.close()


def podium(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = f"from podium.cli import main; main({list(arguments)!r})"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)


def test_the_command_refuses_invalid_options(root: Path) -> None:
    elsewhere = podium("view", str(root), "--host", "0.0.0.0")
    assert elsewhere.returncode == 2 and "ssh -L" in elsewhere.stderr
    absent = podium("view", str(root / "absent"))
    assert absent.returncode == 2 and "podium run" in absent.stderr


def test_only_the_default_port_falls_back_to_a_free_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with contextlib.closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr(server_module, "PORT", port)
        with contextlib.closing(server_module._listen("127.0.0.1", None)) as other:
            assert other.getsockname()[1] != port
        with pytest.raises(server_module.PodiumError, match="--port"):
            server_module._listen("127.0.0.1", port)
