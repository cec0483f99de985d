"""Bubblewrap, with every program at the lowest priority: for machines that do other work at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podium.sandbox.backend import Capabilities, Program, Sandbox, find_backend
from podium.sandbox.spec import SandboxSpec

NICE = ["nice", "-n", "19"]


class Polite:
    """The backend: all that bubblewrap can, politely."""

    name = "polite"

    def __init__(self) -> None:
        self._bubblewrap = find_backend("bubblewrap")

    def capabilities(self) -> Capabilities:
        return self._bubblewrap.capabilities()

    def check(self, spec: SandboxSpec) -> None:
        self._bubblewrap.check(spec)

    def open(self, spec: SandboxSpec) -> Sandbox:
        return _PoliteSandbox(self._bubblewrap.open(spec))


class _PoliteSandbox:
    """Everything is bubblewrap's, but for how programs are started."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sandbox, name)

    def __enter__(self) -> _PoliteSandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self._sandbox.stop()

    def start(self, command: Sequence[str], **options: Any) -> Program:
        return self._sandbox.start([*NICE, *command], **options)

    def run(self, command: Sequence[str], *, timeout_s: float | None = None, **options: Any) -> Any:
        return self.start(command, **options).wait(timeout_s)
