"""Anchoring: sends journal heads to a board in the background while runs are in progress.

Each run is anchored at its start, periodically, and at its end. A thread sends the anchors and retries; unsent anchors
are sent when the experiment is resumed.
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
"""Interval between anchors of a run in progress."""
PAUSE_S = 0.5
"""Pause between rounds; doubled after each failure, up to a minute."""
RunState = Literal["started", "running", "ended"]


class Anchoring:
    """Context manager that anchors an experiment's runs during its execution."""

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
            patience_s: Maximum time to wait for unsent anchors at the end.
        """
        self._experiment, self._board, self._key, self._registration = experiment, board, key, registration
        self._patience_s, self._interval_s = patience_s, interval_s
        self._lock = threading.Lock()
        self._pending: set[tuple[RunName, bool]] = set()
        """Runs with unsent anchors, and whether they have ended."""
        self._later: set[RunName] = set()
        """Runs that have grown but whose last anchor is too recent for another."""
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
        """Schedule an anchor for a run that has changed."""
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
        """Number of runs with unsent anchors."""
        with self._lock:
            return len(self._pending)

    def _is_due(self, name: RunName) -> bool:
        return time.monotonic() - self._last.get(name, -math.inf) >= self._interval_s

    def _add(self, name: RunName, *, ended: bool) -> None:
        self._last[name] = time.monotonic()
        self._pending.add((name, ended))

    def _known_receipts(self) -> set[tuple[str, int, str, str]]:
        """Return task, seed, state and head of the acknowledged anchors."""
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
        """Send all pending anchors and return whether that succeeded, so that no back-off is needed."""
        with self._lock:
            for name in [name for name in self._later if self._is_due(name)]:  # the run may not change again for hours
                self._later.discard(name)
                self._add(name, ended=False)
            pending = sorted(self._pending)
        reached = True
        for name, ended in pending:
            try:
                done = self._send(name, ended=ended)
            except UnreachableError as error:
                logger.warning("Anchors could not be sent and will be retried: %s", error)
                return False
            except PodiumError as error:
                logger.warning("%s/%s cannot be anchored: %s", *name, error)
                done = True
            except Exception as error:  # noqa: BLE001 (the thread must survive for the other runs)
                logger.warning("%s/%s could not be anchored and will be retried: %s", *name, error)
                done = reached = False
            if done:
                with self._lock:
                    self._pending.discard((name, ended))
        return reached

    def _send(self, name: RunName, *, ended: bool) -> bool:
        """Anchor the first line of a run, once, and its last; return whether nothing is left to send."""
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
