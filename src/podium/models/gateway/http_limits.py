"""Limits of an HTTP server for hostile clients: connections, time, bytes and parts of a request.

A connection serves one request. An oversized request is read to its end and discarded, so that the client sees the
answer.
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

MAX_CONNECTIONS = 64
MAX_BODY_BYTES = 32 << 20
MAX_BODIES_BYTES = 64 << 20
"""Maximum total size of all requests being read and answered; further requests wait."""
MAX_VALUE_STARTS = 4 << 20
"""Maximum number of characters that may start a JSON value: each can take a hundred times its size in memory."""
MAX_RUN_BYTES = 512 << 20
"""Maximum total size of a run's requests, which stay in memory for its log; repeated texts count once."""
VALUE_OVERHEAD_BYTES = 64
"""Size charged for each value of a request in addition to its text."""
HEAD_TIMEOUT_S, BODY_TIMEOUT_S = 30.0, 60.0


class TooLargeError(Exception):
    """A request that exceeds a size limit."""


class BoundedProtocol(H11Protocol):
    """HTTP protocol with a limit on connections and a deadline for the request head."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
        else:
            self.loop.call_later(HEAD_TIMEOUT_S, self._end_if_silent)

    def _end_if_silent(self) -> None:
        if self.cycle is None:
            self.transport.abort()


class RequestBodies:
    """Reader of request bodies that waits until there is memory for them."""

    def __init__(self) -> None:
        self._used = 0
        self._changed = anyio.Condition()

    @contextlib.asynccontextmanager
    async def read(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the body of a request; its memory stays reserved while the block runs.

        Raises:
            TooLargeError: it exceeds a size limit.
            TimeoutError: it was not received in time.
        """
        size = _announced(request)
        async with self._changed:
            while self._used + size > MAX_BODIES_BYTES:
                await self._changed.wait()
            self._used += size
        try:
            with anyio.fail_after(BODY_TIMEOUT_S):
                body = await _read(request)
            if sum(body.count(mark) for mark in (b"{", b"[", b",", b'"')) > MAX_VALUE_STARTS:
                raise TooLargeError("The request has too many parts.")
            yield body
        finally:
            with anyio.CancelScope(shield=True):
                async with self._changed:
                    self._used -= size
                    self._changed.notify_all()


class TextPool:
    """Pool of the texts in a run's requests: a text repeated throughout a conversation is kept in memory once."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}
        self._size = 0

    def share(self, value: Any) -> Any:
        """Return the same document, with its longer texts replaced by equal ones from earlier documents.

        Raises:
            TooLargeError: all documents together exceed the limit.
        """
        kept = value
        self._size += VALUE_OVERHEAD_BYTES
        if isinstance(value, dict):
            kept = {name: self.share(part) for name, part in value.items()}
        elif isinstance(value, list):
            kept = [self.share(part) for part in value]
        elif isinstance(value, str) and len(value) > VALUE_OVERHEAD_BYTES:
            kept = self._kept.setdefault(value, value)
            self._size += len(value) if kept is value else 0
        if self._size > MAX_RUN_BYTES:
            raise TooLargeError(f"All requests of this run together exceed the limit of {MAX_RUN_BYTES:,} bytes.")
        return kept


def _announced(request: Request) -> int:
    """Return the number of bytes to reserve."""
    length = request.headers.get("content-length", "")
    return min(int(length), MAX_BODY_BYTES) if length.isdecimal() else MAX_BODY_BYTES


async def _read(request: Request) -> bytes:
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        pieces.append(piece)
        if size > MAX_BODY_BYTES:
            pieces.clear()
    if size > MAX_BODY_BYTES:
        raise TooLargeError(f"The request exceeds the limit of {MAX_BODY_BYTES:,} bytes.")
    return b"".join(pieces)


def server_options() -> dict[str, Any]:
    """Return the uvicorn options that enforce the limits."""
    # asyncio accepts up to `backlog` waiting connections at a time, before it handles the first.
    taken = {"backlog": MAX_CONNECTIONS}
    return {"http": BoundedProtocol, "ws": "none", "headers": [("Connection", "close")], **taken}
