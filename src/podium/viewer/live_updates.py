"""Live updates: server-sent events that make open pages reload when their content changes."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import AsyncIterator, Callable

import anyio
from anyio import to_thread

from podium.report.results import Row, RunKey
from podium.runs.attempt.progress_files import has_running_attempt
from podium.runs.run_folder import RunFolder
from podium.viewer.index.experiment_index import ExperimentIndex
from podium.viewer.index.find_experiments import stamp_of
from podium.viewer.index.transcripts import TranscriptReader
from podium.viewer.index.verify_requests import Verifier

INTERVAL_S = 1.0
UNFINISHED = ("running", "interrupted")
"""Statuses that can change into each other without a change of the record."""
HEARTBEAT_S = 15.0
_THIS_PROCESS = secrets.token_hex(4)


class ChangeTokens:
    """Tokens of pages, which change whenever the content of a page does."""

    def __init__(self, index: ExperimentIndex, verifier: Verifier, transcripts: TranscriptReader) -> None:
        self._index, self._verifier, self._transcripts = index, verifier, transcripts

    def of_all(self) -> str:
        return _token(self._index.refresh())

    def of_experiment(self, name: str) -> str:
        self._index.refresh()
        begun = [row for status in UNFINISHED for row in self._index.rows(name, status=status)[0]]
        going = [_steps(row) for row in begun]
        return _token(self._index.changes(name), self._verifier.waiting_in(name), *going)

    def of_run(self, key: RunKey) -> str:
        row = self._index.row(key)
        if row is None or row.folder is None:
            return _token()
        run = RunFolder(row.folder)
        files = [stamp_of(file) for file in (run.record, run.curve, run.decision, run.progress)]
        waiting = self._verifier.is_waiting(key), self._transcripts.is_reading(run.logs)
        return _token(*files, _steps(row), self._index.changes(key.experiment), *waiting)


def _steps(row: Row) -> object:
    if row.folder is None:
        return None
    run = RunFolder(row.folder)
    return stamp_of(run.journal), has_running_attempt(run)


def _token(*facts: object) -> str:
    return hashlib.sha256(repr((_THIS_PROCESS, *facts)).encode()).hexdigest()[:16]


async def events(find_token: Callable[[], str], since: str, closing: threading.Event) -> AsyncIterator[str]:
    """Yield a server-sent event whenever the token changes."""
    silent_s = 0.0
    yield "retry: 2000\n\n"
    while not closing.is_set():
        current = await to_thread.run_sync(find_token)
        if current != since:
            since, silent_s = current, 0.0
            yield f"event: change\nid: {current}\ndata: {current}\n\n"
        elif silent_s >= HEARTBEAT_S:
            silent_s = 0.0
            yield ": still here\n\n"
        await anyio.sleep(INTERVAL_S)
        silent_s += INTERVAL_S
