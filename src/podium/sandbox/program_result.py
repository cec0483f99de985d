"""Result of a program: its exit code and bounded output."""

from __future__ import annotations

from dataclasses import dataclass

from podium.sandbox.spec import MIB

_SLACK = 1 << 16


@dataclass(frozen=True)
class Output:
    """Beginning and end of an output, with the number of bytes dropped between them."""

    head: bytes
    tail: bytes = b""
    dropped: int = 0

    @property
    def text(self) -> str:
        """Output as text, with a line that counts the dropped bytes."""
        if not self.dropped:
            return (self.head + self.tail).decode("utf-8", "replace")
        head, tail = self.head.decode("utf-8", "replace"), self.tail.decode("utf-8", "replace")
        gap = f"[... {self.dropped:,} bytes left out ...]"
        return f"{head}\n{gap}\n{tail}" if head else f"{gap}\n{tail}"


@dataclass(frozen=True)
class ProgramResult:
    """Result of a program that has ended."""

    exit_code: int
    """Exit code as a shell reports it: 128 plus the signal for a killed program."""
    stdout: Output
    stderr: Output
    seconds: float
    stopped: str | None = None
    """Reason why Podium ended it ("time limit of 3 s"), or None if it ended by itself."""


@dataclass(frozen=True)
class Keep:
    """Amount of each output stream to keep, from its beginning and from its end."""

    head_bytes: int = 1 * MIB
    tail_bytes: int = 1 * MIB


class Collector:
    """Bounded buffer for an output stream: keeps its first and last bytes."""

    def __init__(self, keep: Keep) -> None:
        self._head, self._tail = bytearray(), bytearray()
        self._room, self._tail_bytes = keep.head_bytes, keep.tail_bytes
        self._dropped = 0

    def add(self, data: bytes) -> None:
        taken = data[: self._room]
        self._head += taken
        self._room -= len(taken)
        self._tail += data[len(taken) :]
        if len(self._tail) > 2 * self._tail_bytes + _SLACK:  # rarely, because it moves the kept bytes
            self._trim()

    def output(self) -> Output:
        self._trim()
        return Output(bytes(self._head), bytes(self._tail), self._dropped)

    def _trim(self) -> None:
        surplus = max(0, len(self._tail) - self._tail_bytes)
        del self._tail[:surplus]
        self._dropped += surplus
