"""Journals on pages: only what is shown is read again, growing ones are followed, and damage is told in words."""

from __future__ import annotations

import os
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from viewed import Done, end, make_experiment, make_record, make_run, start, step

from podium.runs.run_folder import RunFolder
from podium.viewer.app import make_app
from podium.viewer.page_site import Site
from podium.workspace.journal.events import Event
from podium.workspace.journal.journal import Journal, JournalFollower
from podium.workspace.journal.observations import (
    Interruption,
    Observation,
    ProgramOutput,
    Refusal,
    ScriptResult,
    SubmissionResult,
    TextResult,
    ValidationResult,
)

MANY = 1_000
RUN = "/runs/odd/spaceship-titanic/0"


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """A run of two steps, and beside it one that nothing is wrong with."""
    plan = make_experiment(tmp_path / "root" / "odd", seeds=2)
    make_run(tmp_path / "root" / "odd", plan, [Done()], seed=1)
    return make_run(tmp_path / "root" / "odd", plan, [Done(), Done(files={"notes.txt": "one\n"})])


@pytest.fixture
def pages(run: RunFolder, tmp_path: Path) -> Iterator[TestClient]:
    site = Site(tmp_path / "root", file=tmp_path / "index.sqlite")
    with TestClient(make_app(site), base_url="http://localhost", raise_server_exceptions=True) as client:
        yield client


def test_only_the_visible_steps_of_a_long_run_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = make_record(tmp_path / "root" / "long", make_experiment(tmp_path / "root" / "long"))
    with Journal.open(long.journal) as journal:
        journal.append(start())
        for number in range(1, MANY + 1):
            journal.append(step(number))
    read: list[int] = []
    original = JournalFollower.read

    def counted(self: JournalFollower, n: int) -> Event:
        read.append(n)
        return original(self, n)

    monkeypatch.setattr(JournalFollower, "read", counted)
    site = Site(tmp_path / "root", file=tmp_path / "index.sqlite")
    with TestClient(make_app(site), base_url="http://localhost") as pages:
        here = "/runs/long/spaceship-titanic/0"
        first = pages.get(here).text
        assert len(read) < 110
        assert "1–100 of 1,000" in first and "echo 100<" in first and "echo 101<" not in first
        last = pages.get(f"{here}?page=10").text
        assert "901–1,000 of 1,000" in last and "echo 1000<" in last
        assert "echo 1000<" in pages.get(f"{here}?page=99999").text
        assert "echo 500<" in pages.get(f"{here}/steps/500").text


def test_a_page_shows_new_journal_entries(run: RunFolder, pages: TestClient) -> None:
    run.journal.unlink()
    assert "No steps yet" in pages.get(RUN).text
    with Journal.open(run.journal) as journal:
        journal.append(start())
        journal.append(step(1))
        assert "echo 1<" in pages.get(RUN).text
        with run.journal.open("ab") as file:
            file.write(b'{"n": 3, "previous": "')  # somebody is writing
        assert "rest of the journal cannot be read" not in pages.get(RUN).text
        journal.append(step(2))
        journal.append(end(2, snapshot="a" * 64))
    assert "echo 2<" in pages.get(RUN).text
    assert pages.get(f"{RUN}/steps/3").status_code == 404


@pytest.mark.parametrize(
    "line",
    [b"", b"[]", b"null", b"{}", b'{"kind": "step"}', b'{"kind": "steps"}', b"\xff\xfe", b"[" * 5000, b" " * (1 << 21)],
)
def test_a_malformed_line_is_reported_and_earlier_steps_are_shown(
    run: RunFolder, pages: TestClient, line: bytes
) -> None:
    lines = run.journal.read_bytes().split(b"\n")
    run.journal.write_bytes(b"\n".join([*lines[:2], line, *lines[2:]]))
    answer = pages.get(RUN)
    assert answer.status_code == 200
    assert "The rest of the journal cannot be read" in answer.text and "steps.jsonl" in answer.text
    assert f'href="{RUN}/steps/1"' in answer.text and f'href="{RUN}/steps/2"' not in answer.text
    assert pages.get(f"{RUN}/steps/1").status_code == 200
    missing = pages.get(f"{RUN}/steps/2")
    assert missing.status_code == 500 and "steps.jsonl" in missing.text
    assert pages.get(f"{RUN}/tree").status_code == 404
    other = pages.get(RUN.removesuffix("0") + "1").text
    assert "cannot be read" not in other and "/steps/1" in other


@pytest.mark.parametrize(("old", "new"), [(b'"seconds"', b'"took"'), (b'"exit_code": 0', b'"exit": 0')])
def test_a_field_of_another_name_is_an_error_not_an_empty_page(
    run: RunFolder, pages: TestClient, old: bytes, new: bytes
) -> None:
    run.journal.write_bytes(run.journal.read_bytes().replace(old, new))
    text = pages.get(RUN).text
    assert "rest of the journal cannot be read" in text and "No steps yet" in text


def test_a_journal_that_does_not_begin_with_a_start_has_no_first_changes(run: RunFolder, pages: TestClient) -> None:
    run.journal.write_bytes(run.journal.read_bytes().partition(b"\n")[2])
    assert pages.get(f"{RUN}/steps/1").status_code == 200
    answer = pages.get(f"{RUN}/steps/1/diff")
    assert answer.status_code == 500 and "must begin with &#39;start&#39;" in answer.text


@pytest.mark.parametrize("name", ["run.json", "steps.jsonl", "curve.json", "decision.json", ".lock"])
@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "garbage"])
def test_abnormal_files_do_not_block_pages(run: RunFolder, pages: TestClient, name: str, kind: str) -> None:
    file = run.path / name
    file.unlink(missing_ok=True)
    match kind:
        case "pipe":
            os.mkfifo(file)
        case "link":
            file.symlink_to("/etc/passwd")
        case "folder":
            file.mkdir()
        case "garbage":
            file.write_bytes(b"\0garbage\n")
    for page in (RUN, "/experiments/odd", f"{RUN}/steps/1", f"{RUN}/tree", "/leaderboard", "/"):
        assert "root:" not in pages.get(page).text
    answer = pages.get(RUN)
    assert answer.status_code == 200
    if name in ("run.json", "steps.jsonl", "curve.json"):
        assert str(file) in unescape(answer.text)
    assert ("unreadable" in pages.get("/experiments/odd").text) is (name == "run.json")


KINDS: dict[str, tuple[Observation, list[str]]] = {
    "text": (TextResult(text="so be it"), ["Text", "so be it"]),
    "refusal": (Refusal(text="no such file"), ["Refused", "no such file"]),
    "interruption": (Interruption(cause="working time"), ["Interrupted", "<dd>working time</dd>"]),
    "program": (
        ProgramOutput(script="train.py", exit_code=3, stdout="epoch 1", stderr="Killed"),
        ["<dd>train.py</dd>", "<dd>3</dd>", "Standard output", "epoch 1", "Standard error", "Killed"],
    ),
    "command": (
        ProgramOutput(exit_code=None, stopped="time limit of 3 s", stdout="some"),
        ["<dd>time limit of 3 s</dd>", "some"],
    ),
    "script": (
        ScriptResult(exit_code=0, output="epoch 2", seconds=90.0, metric=0.123456, valid=False, error="no id column"),
        ["Exit code", "1 min 30 s", "<dd>0.12346</dd>", "<dd>no id column</dd>", "epoch 2"],
    ),
    "valid script": (ScriptResult(exit_code=0, valid=True), ["<dd>none</dd>", "<dd>valid</dd>"]),
    "submission": (SubmissionResult(script=4, accepted=True), ["<dd>4</dd>", "<dd>yes</dd>"]),
    "no submission": (
        SubmissionResult(script=4, accepted=False, reason="it is gone"),
        ["<dd>no</dd>", "it is gone"],
    ),
    "validation": (ValidationResult(valid=False, error="too few rows"), ["<dd>not valid</dd>", "too few rows"]),
    "valid": (ValidationResult(valid=True), ["<dd>valid</dd>"]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("padding", ["", pytest.param("x" * 10_000, marks=pytest.mark.slow)], ids=["short", "long"])
def test_each_kind_of_observation_has_its_own_presentation(tmp_path: Path, kind: str, padding: str) -> None:
    observation, words = KINDS[kind]
    plan = make_experiment(tmp_path / "root" / "odd")
    if padding and isinstance(observation, TextResult | Refusal):
        observation = observation.model_copy(update={"text": observation.text + padding})
    make_run(tmp_path / "root" / "odd", plan, [Done(arguments={"command": "ls" + padding}, observation=observation)])
    site = Site(tmp_path / "root", file=tmp_path / "index.sqlite")
    with TestClient(make_app(site), base_url="http://localhost") as pages:
        page = pages.get(f"{RUN}/steps/1").text.partition("<h2>Observation</h2>")[2]
        assert [word for word in words if word not in page] == []
        assert pages.get(f"{RUN}/steps/1/save/observation").text == observation.text
        saved = pages.get(f"{RUN}/steps/1/save/step").json()
        assert saved["observation"] == observation.model_dump(mode="json")
        assert saved["action"]["arguments"] == {"command": "ls" + padding}
        timeline = unescape(pages.get(RUN).text)
        assert ("refused" in timeline) is isinstance(observation, Refusal)
        assert ("interrupted" in timeline) is isinstance(observation, Interruption)
