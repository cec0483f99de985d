"""What a program printed, within bounds."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True)
class Output:
    """The beginning and the end of what came, and how much is missing between them."""

    head: bytes
    tail: bytes = b""
    dropped: int = 0

    @property
    def text(self) -> str:
        """As text, with a line that counts what was left out."""
        if not self.dropped:
            return (self.head + self.tail).decode("utf-8", "replace")
        head, tail = self.head.decode("utf-8", "replace"), self.tail.decode("utf-8", "replace")
        gap = f"[... {self.dropped:,} bytes left out ...]"
        return f"{head}\n{gap}\n{tail}" if head else f"{gap}\n{tail}"


class Collector:
    """Takes output piece by piece and holds no more of it than the two bounds."""

    def __init__(self, *, head_bytes: int, tail_bytes: int) -> None:
        self._head = bytearray()
        self._room = head_bytes
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._tail_bytes = tail_bytes
        self._dropped = 0

    def add(self, data: bytes) -> None:
        taken = data[: self._room]
        self._head += taken
        self._room -= len(taken)
        rest = data[len(taken) :]
        if not rest:
            return
        self._tail.append(rest)
        self._tail_size += len(rest)
        while self._tail_size - len(self._tail[0]) >= self._tail_bytes:
            gone = len(self._tail.popleft())
            self._tail_size -= gone
            self._dropped += gone

    def output(self) -> Output:
        tail = b"".join(self._tail)
        surplus = max(0, len(tail) - self._tail_bytes)
        return Output(bytes(self._head), tail[surplus:], self._dropped + surplus)
