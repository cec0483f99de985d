"""Sends the heads of journals to a board while runs are going, without ever holding them up.

Each run is anchored when it starts, now and then, and when it ends. Sending happens in a thread of its own and is
retried; what could not be sent is sent when the experiment is resumed.
"""

from __future__ import annotations

import json
import logging
import math
import os
import threading
import time
from typing import Literal

from podium.board.board_client import Board
from podium.board.check.check_registration import RunName
from podium.board.keys import Key
from podium.board.ledger.statements import Anchor, sign
from podium.board.register import RegistrationDocument, add_receipt, read_receipts
from podium.errors import PodiumError, UnreachableError
from podium.runs.drive.driver import FollowedRun
from podium.runs.experiment import Experiment

logger = logging.getLogger(__name__)
INTERVAL_S = 600.0
"""Between anchors of a run that is going."""
PAUSE_S = 0.5
"""Between rounds; doubled after each failure, up to a minute."""
RunState = Literal["started", "running", "ended"]


class Anchoring:
    """Anchors the runs of one experiment; a context manager around carrying it out."""

    def __init__(
        self,
        experiment: Experiment,
        board: Board,
        key: Key,
        registration: RegistrationDocument,
        *,
        patience_s: float = 60.0,
        interval_s: float = INTERVAL_S,
    ) -> None:
        """
        Args:
            patience_s: how long the end waits for what has not been sent.
        """
        self._experiment, self._board, self._key, self._registration = experiment, board, key, registration
        self._patience_s, self._interval_s = patience_s, interval_s
        self._lock = threading.Lock()
        self._pending: set[tuple[RunName, bool]] = set()
        """Runs with something to tell, and whether they have ended."""
        self._later: set[RunName] = set()
        """Runs that have grown since their last anchor, which is too young for another."""
        self._last: dict[RunName, float] = {}
        self._sent = self._known_receipts()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="podium-anchors", daemon=True)

    def __enter__(self) -> Anchoring:
        for run in self._experiment.runs():
            record = run.read_record()
            if record is not None and record.status != "running":
                self._pending.add(((record.task, record.seed), True))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._thread.join(self._patience_s)

    def note(self, run: FollowedRun) -> None:
        """Takes in that something changed in a run; called by whoever follows it."""
        name = (run.request.task, run.request.seed)
        if run.state == "queued":
            return
        with self._lock:
            self._later.discard(name)
            if run.is_over or self._is_due(name):
                self._add(name, ended=run.is_over)
            else:
                self._later.add(name)

    @property
    def unsent(self) -> int:
        """How many runs have something that the board does not know."""
        with self._lock:
            return len(self._pending)

    def _is_due(self, name: RunName) -> bool:
        return time.monotonic() - self._last.get(name, -math.inf) >= self._interval_s

    def _add(self, name: RunName, *, ended: bool) -> None:
        self._last[name] = time.monotonic()
        self._pending.add((name, ended))

    def _known_receipts(self) -> set[tuple[str, int, str, str]]:
        """What the board has acknowledged: task, seed, state and head."""
        found = set()
        for receipt in read_receipts(self._experiment.folder):
            said = json.loads(receipt["line"])["statement"]
            found.add((said["task"], said["seed"], said["state"], said["head"]))
        return found

    def _work(self) -> None:
        pause, gives_up = PAUSE_S, math.inf
        while True:
            if self._closing.wait(pause):
                gives_up = min(gives_up, time.monotonic() + self._patience_s)
            reached = self._send_round()
            pause = PAUSE_S if reached else min(60.0, pause * 2)
            if self._closing.is_set():
                if not self.unsent or time.monotonic() > gives_up:
                    return
                time.sleep(min(pause, 1.0))

    def _send_round(self) -> bool:
        """Sends what is pending; whether that went well, so that there is no need to wait."""
        with self._lock:
            for name in [name for name in self._later if self._is_due(name)]:  # nothing may change for hours now
                self._later.discard(name)
                self._add(name, ended=False)
            pending = sorted(self._pending)
        reached = True
        for name, ended in pending:
            try:
                done = self._send(name, ended=ended)
            except UnreachableError as error:
                logger.warning("anchors wait: %s", error)
                return False
            except PodiumError as error:
                logger.warning("%s/%s cannot be anchored: %s", *name, error)
                done = True
            except Exception as error:  # noqa: BLE001 (nothing may end the thread that other runs need)
                logger.warning("%s/%s cannot be anchored yet: %s", *name, error)
                done = reached = False
            if done:
                with self._lock:
                    self._pending.discard((name, ended))
        return reached

    def _send(self, name: RunName, *, ended: bool) -> bool:
        """Anchors a run's first line, if that has not been done, and its last; whether there is nothing left to do."""
        task, seed = name
        run = self._experiment.run(task, seed)
        if not os.path.lexists(run.journal):
            return ended
        journal = run.read_journal()
        if not len(journal):
            return ended
        if not any(known[:3] == (task, seed, "started") for known in self._sent):
            self._anchor(name, 1, journal.hash_of(1), "started")
        if ended or len(journal) > 1:
            self._anchor(name, len(journal), journal.head, "ended" if ended else "running")
        return True

    def _anchor(self, name: RunName, lines: int, head: str, state: RunState) -> None:
        task, seed = name
        if (task, seed, state, head) in self._sent:
            return
        said = Anchor(
            board=self._board.key,
            registration=self._registration.id,
            task=task,
            seed=seed,
            lines=lines,
            head=head,
            state=state,
        )
        receipt = self._board.append(sign(said, self._key))
        add_receipt(self._experiment.folder, receipt.to_dict())
        self._sent.add((task, seed, state, head))
