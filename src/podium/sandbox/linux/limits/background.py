"""Pausing of background programs: they compute only while a program is awaited, as otherwise they have no lease."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from podium.sandbox.linux.control_socket import Control
from podium.sandbox.linux.limits.process_tree import cpu_time_s, program_states

MAX_PAUSED_CPU_S = 0.25
"""CPU time that programs of a sandbox may use during a pause; with more, they have found a way to wake themselves."""
MAX_AWAKE_S = 2.0
"""Time that they may be seen awake in a pause; the CPU time of children that no parent reaps appears in no account."""
MAX_OBSERVATION_S = 0.2
"""Maximum time that one observation counts for."""


@dataclass
class _Pause:
    """Measurements during a pause."""

    token: object
    used_s: float
    looked_at: float
    awake_s: float = 0.0


class Background:
    """Control of the pauses of a sandbox's programs. Its methods may be called from any thread."""

    def __init__(self, control: Control, *, is_paused_when_idle: bool) -> None:
        self._control, self._is_paused_when_idle = control, is_paused_when_idle
        self._lock = threading.Lock()
        self._waited_for: set[object] = set()
        self._may_exist = False
        self._pause: object | None = None
        self._measured: _Pause | None = None

    def begin(self, *, leaves_something: bool) -> Callable[[], None]:
        """Resume everything for a program; return a callback for its end, which may be called repeatedly."""
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
        """Return the reason to kill programs: they compute in a pause. A timer, for one, can send its owner SIGCONT."""
        pause = self._pause
        if pause is None:
            return None
        used, now = cpu_time_s(root), time.monotonic()
        if self._measured is None or self._measured.token is not pause:
            self._measured = _Pause(pause, used, now)
        measured = self._measured
        if not program_states(root).isdisjoint("RS"):  # D may be a parent whose child was stopped before its exec
            measured.awake_s += min(now - measured.looked_at, MAX_OBSERVATION_S)
        measured.looked_at = now
        if used - measured.used_s <= MAX_PAUSED_CPU_S and measured.awake_s <= MAX_AWAKE_S:
            return None
        return "background programs kept computing while no program was awaited"
