"""`podium forge`: new tasks, their secrets and regenerating tasks from secrets."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from podium.catalog.forge.forge_ids import forge_id
from podium.catalog.forge.forged_task import QUICK
from podium.catalog.forge.secret import Secret, parse_secret, save_secret
from podium.cli import main
from podium.safefs.atomic_files import sha256

Run = Callable[..., tuple[int, str]]
KNOWN = Secret(bytes(range(20)))
TASK = str(forge_id("graph", "easy", KNOWN))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs a command and returns its exit code and its output or error message."""

    def call(*arguments: str, stdin: str = "", command: str = "forge") -> tuple[int, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as stop:
            main([command, *arguments])
            raise SystemExit(0)
        captured = capsys.readouterr()
        code = int(stop.value.code or 0)
        return code, captured.err if code else captured.out

    return call


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PODIUM_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_secret_is_revealed(run: Run, own_home: Path) -> None:
    save_secret(forge_id("graph", "easy", KNOWN), KNOWN)
    assert run("--reveal", TASK) == (0, f"{KNOWN}\n")
    assert json.loads(run("--reveal", TASK, "--json")[1]) == {"task": TASK, "secret": str(KNOWN)}


def test_unavailable_secrets_are_explained(run: Run, own_home: Path) -> None:
    code, output = run("--reveal", TASK)
    assert code == 2
    assert "was made elsewhere" in output
    code, output = run("--reveal", "forge-graph-easy-7")
    assert code == 2
    assert "has no secret" in output


def test_wrong_secret_is_rejected(run: Run, own_home: Path) -> None:
    code, output = run(TASK, "--from-secret", str(Secret(bytes(20))))
    assert code == 2
    assert "not the secret of" in output
    assert not (own_home / "secrets").exists()


@pytest.mark.parametrize(
    "wrong",
    [
        (),
        ("graph", "--reveal", "x"),
        ("graph", "--seed", "1", "--from-secret", "x"),
        ("forge-graph-easy-7", "--seed", "1"),
    ],
)
def test_conflicting_options_are_rejected(run: Run, wrong: tuple[str, ...]) -> None:
    assert run(*wrong)[0] == 2


def test_tasks_from_public_seeds_are_labelled(run: Run, own_home: Path) -> None:
    lines = run(command="tasks")[1].splitlines()
    assert [line.split()[0] for line in lines if line.endswith("(not secret)")] == list(QUICK)
    assert "not secret: anyone can generate the answers" in run(QUICK[0], command="show")[1]
    assert f"podium forge --reveal {TASK}" in run(TASK, command="show")[1]


@pytest.mark.slow
def test_task_is_regenerated_from_its_secret(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_HOME", str(tmp_path / "maker"))
    code, output = run("graph", "--difficulty", "easy", "--json")
    assert code == 0
    task = json.loads(output)["task"]
    secret = run("--reveal", task)[1].strip()
    for path in (tmp_path / "maker" / "data").rglob("*"):
        assert secret not in path.name
        if path.is_file():
            content = path.read_bytes()
            assert secret.encode() not in content
            assert parse_secret(secret).key not in content
    monkeypatch.setenv("PODIUM_HOME", str(tmp_path / "checker"))
    assert run(task)[0] == 2, "without the secret"
    assert run(task, "--from-secret", "-", stdin=f"{secret}\n")[0] == 0
    parts = "public", "private"
    here, there = (
        {
            str(path.relative_to(tmp_path / who / "data" / task / part)): sha256(path)
            for part in parts
            for path in (tmp_path / who / "data" / task / part).rglob("*")
            if path.is_file()
        }
        for who in ("maker", "checker")
    )
    assert here == there
    assert len(here) > 4
    board = tmp_path / "checker" / "data" / task / "private" / "leaderboard.json"
    field = json.loads(board.read_text())
    field["entrants"][0]["score"] += 0.001
    board.write_text(json.dumps(field))
    assert run(task, "--from-secret", secret)[0] == 0, "another machine's arithmetic"
    answers = tmp_path / "checker" / "data" / task / "private" / "test.csv"
    answers.write_text(answers.read_text().replace("a", "b"))
    code, output = run(task, "--from-secret", secret)
    assert code == 1
    assert "private/test.csv" in output
