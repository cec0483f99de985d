"""Bounds for an HTTP service that hostile programs talk to: connections, time, bytes and parts of a request.

A connection serves one request. What is too much is read to its end, and dropped, so that the client sees the answer.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import anyio
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from asyncio import Transport

    from starlette.requests import Request

MOST_CONNECTIONS = 64
BODY_BYTES = 32 << 20
BODIES_BYTES = 64 << 20
"""Of all requests that are being read and answered; the others wait."""
MOST_VALUE_STARTS = 4 << 20
"""Characters that may begin a value: a short text of nothing but these takes a hundred times its size in memory."""
RUN_BYTES = 512 << 20
"""Of all requests of a run together, which stay in memory for its log; texts that are repeated count once."""
VALUE_BYTES = 64
"""What a value of a request counts beside its text."""
HEAD_TIMEOUT_S, BODY_TIMEOUT_S = 30.0, 60.0


class TooLargeError(Exception):
    """A request is larger than it may be."""


class BoundedProtocol(H11Protocol):
    """Connections up to a number, each of which has to send its request soon."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self.loop.call_later(HEAD_TIMEOUT_S, self._end_if_silent)

    def _end_if_silent(self) -> None:
        if self.cycle is None:
            self.transport.abort()


class Bodies:
    """Reads requests as long as there is room for them."""

    def __init__(self) -> None:
        self._used = 0
        self._changed = anyio.Condition()

    @contextlib.asynccontextmanager
    async def read(self, request: Request) -> AsyncIterator[bytes]:
        """The body of a request, for which there is room while the block runs.

        Raises:
            TooLargeError: it is larger than it may be.
            TimeoutError: it does not come.
        """
        size = _announced(request)
        async with self._changed:
            while self._used + size > BODIES_BYTES:
                await self._changed.wait()
            self._used += size
        try:
            with anyio.fail_after(BODY_TIMEOUT_S):
                body = await _read(request)
            if sum(body.count(mark) for mark in (b"{", b"[", b",", b'"')) > MOST_VALUE_STARTS:
                raise TooLargeError("The request has too many parts.")
            yield body
        finally:
            with anyio.CancelScope(shield=True):
                async with self._changed:
                    self._used -= size
                    self._changed.notify_all()


class Texts:
    """The requests of a run as its log keeps them: a text that comes again and again, as in a conversation, once."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}
        self._size = 0

    def share(self, value: Any) -> Any:
        """The same document, its longer texts those of earlier ones where they are equal.

        Raises:
            TooLargeError: all documents together are larger than they may be.
        """
        kept = value
        self._size += VALUE_BYTES
        if isinstance(value, dict):
            kept = {name: self.share(part) for name, part in value.items()}
        elif isinstance(value, list):
            kept = [self.share(part) for part in value]
        elif isinstance(value, str) and len(value) > VALUE_BYTES:
            kept = self._kept.setdefault(value, value)
            self._size += len(value) if kept is value else 0
        if self._size > RUN_BYTES:
            raise TooLargeError(f"The requests of this run are larger than {RUN_BYTES:,} bytes together.")
        return kept


def _announced(request: Request) -> int:
    """The bytes to make room for."""
    length = request.headers.get("content-length", "")
    return min(int(length), BODY_BYTES) if length.isdecimal() else BODY_BYTES


async def _read(request: Request) -> bytes:
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        pieces.append(piece)
        if size > BODY_BYTES:
            pieces.clear()
    if size > BODY_BYTES:
        raise TooLargeError(f"The request is larger than {BODY_BYTES:,} bytes.")
    return b"".join(pieces)


def server_options() -> dict[str, Any]:
    """Options of uvicorn that hold the bounds."""
    # Of those that wait so many are taken at a time, before the first is looked at.
    taken = {"backlog": MOST_CONNECTIONS}
    return {"http": BoundedProtocol, "ws": "none", "headers": [("Connection", "close")], **taken}
