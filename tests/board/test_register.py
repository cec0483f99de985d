"""Registration before the fact, and anchors while runs are going."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from boards import PUBLISHER, TASK, Registered

from podium.board.anchor import Anchoring
from podium.board.board_client import FolderBoard
from podium.board.keys import Signed, make_key
from podium.board.ledger.ledger import Receipt, make_board
from podium.board.ledger.statements import Anchor, Registration
from podium.board.register import read_receipts, register
from podium.errors import UnreachableError, UsageError
from podium.runs.drive.driver import FollowedRun
from podium.runs.drive.executors.executor import RunRequest
from podium.runs.experiment import Experiment, open_experiment, read_experiment


def test_a_registration_comes_first_and_every_run_is_anchored_from_start_to_end(registered: Registered) -> None:
    entries = registered.board.read().entries
    assert isinstance(entries[0].statement, Registration)
    anchors = [entry.statement for entry in entries[1:]]
    for run in registered.experiment.runs():
        journal, seed = run.read_journal(), int(run.path.name)
        own = [one for one in anchors if isinstance(one, Anchor) and one.seed == seed]
        assert own[0].state == "started" and own[0].head == journal.hash_of(1)
        assert own[-1].state == "ended" and own[-1].head == journal.head == run.read_record().journal_head  # type: ignore[union-attr]
        assert all(journal.hash_of(one.lines) == one.head for one in own)
    assert len(list(read_receipts(registered.experiment.folder))) == len(anchors)


def test_registering_again_changes_nothing_and_elsewhere_is_refused(registered: Registered, tmp_path: Path) -> None:
    experiment, board, registration = registered
    assert register(experiment, board, PUBLISHER) == registration
    with pytest.raises(UsageError, match="was registered on"):
        register(experiment, board, make_key())
    make_board(tmp_path / "other", "Other").close()
    with pytest.raises(UsageError, match="was registered on"):
        register(experiment, FolderBoard(tmp_path / "other"), PUBLISHER)


def test_tasks_and_seeds_cannot_be_added_to_a_registration(registered: Registered, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(registered.experiment.folder, folder)
    grown = open_experiment(folder, registered.experiment.plan, [TASK], 3)
    with pytest.raises(UsageError, match="cannot be changed later"):
        register(grown, registered.board, PUBLISHER)


def test_a_started_experiment_cannot_be_registered(registered: Registered, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(registered.experiment.folder, folder)
    (folder / "registration.json").unlink()
    with pytest.raises(UsageError, match="has already started"):
        register(read_experiment(folder), registered.board, PUBLISHER)


class Unsteady:
    """A board that cannot be reached for a while."""

    def __init__(self, board: FolderBoard, failures: int, trouble: Exception | None = None) -> None:
        self.address, self.key, self._board, self.failures = board.address, board.key, board, failures
        self.trouble = trouble or UnreachableError("no answer")

    def append(self, signed: Signed) -> Receipt:
        if self.failures:
            self.failures -= 1
            raise self.trouble
        return self._board.append(signed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._board, name)


def without_receipts(experiment: Experiment, folder: Path) -> Experiment:
    """A copy of an experiment of which no anchor has been acknowledged."""
    shutil.copytree(experiment.folder, folder)
    (folder / "receipts.jsonl").unlink()
    return read_experiment(folder)


def test_anchors_that_were_not_sent_are_sent_when_the_experiment_is_resumed(
    registered: Registered, tmp_path: Path
) -> None:
    experiment, board, registration = registered
    copy = without_receipts(experiment, tmp_path / "experiment")
    with Anchoring(copy, Unsteady(board, 1000), PUBLISHER, registration, patience_s=0.0) as anchoring:
        pass
    assert anchoring.unsent == 2
    with Anchoring(copy, Unsteady(board, 1), PUBLISHER, registration) as anchoring:
        pass
    assert anchoring.unsent == 0
    states = {Receipt(**receipt).line.count('"state":"ended"') for receipt in read_receipts(copy.folder)}
    assert states == {0, 1}, "starts and ends are acknowledged again, each as the entry it is already"


def test_errors_do_not_end_anchoring(registered: Registered, tmp_path: Path) -> None:
    experiment, board, registration = registered
    copy = without_receipts(experiment, tmp_path / "experiment")
    with Anchoring(copy, Unsteady(board, 3, OSError("disk full")), PUBLISHER, registration) as anchoring:
        pass
    assert anchoring.unsent == 0


def test_changes_soon_after_an_anchor_are_anchored_later(registered: Registered, tmp_path: Path) -> None:
    experiment, _, registration = registered
    copy = without_receipts(experiment, tmp_path / "experiment")
    board = FolderBoard(shutil.copytree(registered.board.folder, tmp_path / "board"))
    run = copy.run(TASK, 0)
    shutil.rmtree(copy.run(TASK, 1).path)
    run.record.unlink()
    lines = run.journal.read_bytes().splitlines(keepends=True)
    followed = FollowedRun(RunRequest(copy.folder, TASK, 0), run, state="running")

    def known() -> set[int]:
        return {json.loads(receipt["line"])["statement"]["lines"] for receipt in read_receipts(copy.folder)}

    with Anchoring(copy, board, PUBLISHER, registration, interval_s=3.0) as anchoring:
        for count in (1, 2):
            run.journal.write_bytes(b"".join(lines[:count]))
            anchoring.note(followed)
            deadline = time.monotonic() + 60
            while count not in known() and time.monotonic() < deadline:
                time.sleep(0.05)
    assert known() == {1, 2}
