"""What programs leave behind computes only while a program is waited for: otherwise it would have no lease."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from podium.sandbox.linux.control_socket import Control
from podium.sandbox.linux.limits.process_tree import processor_s, states

GRACE_S = 0.25
"""How much the programs of a sandbox may compute during a pause; what takes more has found a way to wake itself."""
AWAKE_S = 2.0
"""How long they may be seen awake in it: what children computed that nobody waits for is in no account."""
LOOK_S = 0.2
"""For how long a look counts at most."""


@dataclass
class _Pause:
    """A pause, as far as it was looked at."""

    token: object
    used_s: float
    looked_at: float
    awake_s: float = 0.0


class Background:
    """Pauses and resumes the programs of a sandbox. Its methods may be called from any thread."""

    def __init__(self, control: Control, *, is_paused_when_idle: bool) -> None:
        self._control, self._is_paused_when_idle = control, is_paused_when_idle
        self._lock = threading.Lock()
        self._waited_for: set[object] = set()
        self._may_exist = False
        self._pause: object | None = None
        self._measured: _Pause | None = None

    def begin(self, *, leaves_something: bool) -> Callable[[], None]:
        """Resumes everything for a program; what is to be called when that has ended, any number of times."""
        token = object()
        with self._lock:
            self._waited_for.add(token)
            self._may_exist |= leaves_something
            if self._pause is not None:
                self._control.resume()
                self._pause = None
        return partial(self._end, token)

    def _end(self, token: object) -> None:
        with self._lock:
            if token not in self._waited_for:
                return
            self._waited_for.remove(token)
            if self._is_paused_when_idle and self._may_exist and not self._waited_for:
                self._control.pause()
                self._pause = object()

    def exceeded(self, root: int) -> str | None:
        """Why programs are to be killed: they compute in a pause. A timer, for one, can send its owner SIGCONT."""
        pause = self._pause
        if pause is None:
            return None
        used, now = processor_s(root), time.monotonic()
        if self._measured is None or self._measured.token is not pause:
            self._measured = _Pause(pause, used, now)
        seen = self._measured
        if not states(root).isdisjoint("RS"):  # D may be a parent whose child was stopped before it became a program
            seen.awake_s += min(now - seen.looked_at, LOOK_S)
        seen.looked_at = now
        if used - seen.used_s <= GRACE_S and seen.awake_s <= AWAKE_S:
            return None
        return "programs in the background went on computing while none was waited for"
