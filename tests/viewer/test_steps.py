"""Journals by the page: only what is shown is read, and growing ones are followed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from podium.runs.record import RunFolder
from podium.viewer.steps import StepLines
from starlette.testclient import TestClient
from viewed import Done, make_experiment, make_record, make_run

from podium.errors import RecordError
from podium.viewer.app import make_app
from podium.viewer.site import Site
from podium.workspace.journal import Journal

MANY = 5_000


def line(number: int, **changes: object) -> dict[str, object]:
    return {
        "kind": "step",
        "time": "2026-01-01T00:00:00.000+00:00",
        "action": "run_command",
        "arguments": {"command": f"echo {number}"},
        "observation": "exit code 0",
        "seconds": 0.1,
        "used": {"working_s": float(number)},
        "snapshot": "a" * 64,
        "decision": number,
        "place": 0,
        "of": 1,
        "state": "b" * 64,
    } | changes


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    root = tmp_path_factory.mktemp("long")
    run = make_record(root / "long", make_experiment(root / "long"))
    steps = [{"kind": "start", "time": "", "snapshot": "a" * 64}, *(line(n) for n in range(1, MANY + 1))]
    ours = ({"n": n, "previous": "0" * 64} | fields | {"check": "0" * 16} for n, fields in enumerate(steps, 1))
    run.journal.write_text("".join(json.dumps(fields) + "\n" for fields in ours))
    return run


def test_a_long_run_opens_without_reading_all_of_it(
    long_run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    original = StepLines.read

    def counted(self: StepLines, place: object) -> dict[str, object]:
        read.append(1)
        return original(self, place)  # type: ignore[arg-type]

    monkeypatch.setattr(StepLines, "read", counted)
    site = Site(long_run.path.parent.parent.parent, file=tmp_path / "index.sqlite")
    with TestClient(make_app(site), base_url="http://localhost") as pages:
        here = "/runs/long/spaceship-titanic/0"
        first = pages.get(here).text
        assert len(read) < 110
        assert "1–100 of 5,000" in first and "echo 100<" in first and "echo 101<" not in first
        last = pages.get(f"{here}?page=50").text
        assert "4,901–5,000 of 5,000" in last and "echo 5000<" in last
        assert "echo 5000<" in pages.get(f"{here}?page=99999").text
        assert "echo 2500<" in pages.get(f"{here}/steps/2500").text


def test_a_journal_is_followed_as_it_grows(tmp_path: Path) -> None:
    path = tmp_path / "steps.jsonl"
    lines = StepLines(path)
    with pytest.raises(RecordError):
        lines.update()
    with Journal.open(path) as journal:
        journal.append({"kind": "start", "time": "now", "snapshot": "c" * 64})
        journal.append(line(1))
        assert len(lines.update().steps) == 1
        with path.open("ab") as file:
            file.write(b'{"n": 3, "previous": "')  # somebody is writing
        assert len(lines.update().steps) == 1
        journal.append(line(2, action='quo"ted', arguments={"number": 7, "x": 1}))
        assert [step.action for step in lines.update().steps] == ["run_command", 'quo"ted']
    assert lines.steps[1].number == 7 and lines.steps[1].working_s == 2.0
    assert lines.step(2)["arguments"] == {"number": 7, "x": 1} and lines.first()["snapshot"] == "c" * 64
    with pytest.raises(RecordError, match="no step 3"):
        lines.step(3)
    path.write_bytes(path.read_bytes().split(b"\n")[0] + b"\n")  # cut, as after a crash
    assert lines.update().steps == []


def test_what_an_agent_writes_is_not_taken_for_what_was_used(tmp_path: Path) -> None:
    path = tmp_path / "steps.jsonl"
    with Journal.open(path) as journal:
        journal.append(line(1, arguments={"used": {"working_s": 9e9}}, observation='"used": {"working_s": 8e9'))
    assert StepLines(path).update().steps[0].working_s == 1.0


def test_of_a_very_long_line_the_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "steps.jsonl"
    with Journal.open(path) as journal:
        journal.append(line(1, arguments={"script": "x" * 3_000_000}))
    lines = StepLines(path).update()
    found = lines.step(1)
    assert found["too_long"] > 3_000_000 and found["snapshot"] == "a" * 64 and found["seconds"] == 0.1
    assert b"".join(lines.pieces(lines.steps[0])) == path.read_bytes()[:-1]


@pytest.mark.parametrize(
    "text", [b"\n", b"[]\n", b"null\n{}\n", b'{"kind": "step"}\n', b"\xff\xfe\n" * 5, b"[" * 5000 + b"\n"]
)
def test_a_strange_journal_is_not_our_end(tmp_path: Path, text: bytes) -> None:
    plan = make_experiment(tmp_path / "root" / "odd")
    run = make_run(tmp_path / "root" / "odd", plan, [Done()])
    run.journal.write_bytes(run.journal.read_bytes().split(b'"action"')[0] + b"}\n" + text)
    site = Site(tmp_path / "root", file=tmp_path / "index.sqlite")
    with TestClient(make_app(site), base_url="http://localhost", raise_server_exceptions=True) as pages:
        here = "/runs/odd/spaceship-titanic/0"
        assert pages.get(here).status_code == 200
        for page in ("steps/1", "steps/1/files", "steps/1/diff", "tree", "tree/0"):
            assert pages.get(f"{here}/{page}").status_code in (200, 404, 500)
