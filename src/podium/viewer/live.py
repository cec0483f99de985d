"""Tells open pages when what they show has changed; they fetch themselves again then."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import AsyncIterator, Callable

import anyio
from anyio import to_thread

from podium.report.table import Row
from podium.viewer.found import stamp_of
from podium.viewer.index import Index, Key
from podium.viewer.progress import is_going
from podium.viewer.verifying import Verifier

INTERVAL_S = 1.0
SIGN_OF_LIFE_S = 15.0
_THIS_PROCESS = secrets.token_hex(4)


class Signs:
    """A short text for what a page shows, which changes whenever that does."""

    def __init__(self, index: Index, verifier: Verifier) -> None:
        self._index, self._verifier = index, verifier

    def of_all(self) -> str:
        return _sign(self._index.refresh())

    def of_experiment(self, name: str) -> str:
        self._index.refresh()
        going = [_steps(row) for row in self._index.rows(name, status="running")[0]]
        return _sign(self._index.changes(name), self._verifier.waiting_in(name), *going)

    def of_run(self, key: Key) -> str:
        row = self._index.row(*key)
        if row is None or row.folder is None:
            return _sign()
        files = [stamp_of(row.folder / name) for name in ("run.json", "curve.json", "decision.json")]
        return _sign(*files, _steps(row), self._index.changes(key[0]), self._verifier.is_at(key))


def _steps(row: Row) -> object:
    return row.folder and (stamp_of(row.folder / "steps.jsonl"), is_going(row.folder))


def _sign(*facts: object) -> str:
    return hashlib.sha256(repr((_THIS_PROCESS, *facts)).encode()).hexdigest()[:16]


async def events(sign: Callable[[], str], since: str, closing: threading.Event) -> AsyncIterator[str]:
    """Server-sent events: one whenever the sign is another than before."""
    silent_s = 0.0
    yield "retry: 2000\n\n"
    while not closing.is_set():
        current = await to_thread.run_sync(sign)
        if current != since:
            since, silent_s = current, 0.0
            yield f"event: change\nid: {current}\ndata: {current}\n\n"
        elif silent_s >= SIGN_OF_LIFE_S:
            silent_s = 0.0
            yield ": still here\n\n"
        await anyio.sleep(INTERVAL_S)
        silent_s += INTERVAL_S
