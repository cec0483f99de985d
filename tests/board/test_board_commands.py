"""What those who keep a board, or hand something in, do wrong: one line that says what to do, and no traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest
from boards import PUBLISHER, TASK, Registered

from podium.board.keys import write_key
from podium.board.ledger.ledger import make_board
from podium.cli import main

LONG = "x" * 2001
RUN = f"experiment/{TASK}/0"

MISTAKES = {
    "a short id": (["board", "withdraw", "board", "1234", "--reason", "lost"], 2, "64 hexadecimal digits"),
    "a long reason": (["board", "remove", "board", "0" * 64, "--reason", LONG], 2, "at most 2,000"),
    "a long reason to add": (["board", "add", "board", "nothing.zip", "--reason", LONG], 2, "at most 2,000"),
    "long notes": (["publish", "experiment", "--notes", LONG, "--key", "key.pem"], 2, "notes: String should have at"),
    "a binary head": (["board", "audit", "board", "--since", "binary"], 1, "The file is not the head of a ledger"),
    "no bundle": (["reproduce", RUN, "--register", "board", "--key", "key.pem"], 2, "--bundle DIGEST"),
    "no key": (["reproduce", RUN, "--register", "board", "--bundle", "0" * 64, "--key", "no.pem"], 1, "podium key new"),
}


@pytest.fixture
def desk(registered: Registered, tmp_path: Path) -> Iterator[None]:
    with chdir(tmp_path):
        make_board(Path("board"), "Tests").close()
        write_key(PUBLISHER, Path("key.pem"))
        Path("binary").write_bytes(bytes(range(256)))
        Path("experiment").symlink_to(registered.experiment.folder)
        yield


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.usefixtures("desk")
def test_a_mistake_gets_a_helpful_message(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    line, code, words = MISTAKES[name]
    before = sorted(Path().iterdir())
    with pytest.raises(SystemExit) as stop:
        main(line)
    shown = capsys.readouterr()
    assert (stop.value.code, words in shown.err) == (code, True), shown
    assert shown.out == "" and sorted(Path().iterdir()) == before, "nothing was done"
