"""HTTP service of a board: accepts signed statements and bundles, and acknowledges them once they are on disk."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
import shutil
import socket
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from podium.board.bundle import read_bundle
from podium.board.keys import HEX64, Signed
from podium.board.ledger.ledger import Ledger, Receipt
from podium.board.ledger.statements import STATEMENT_BYTES
from podium.errors import BoardError, UnreachableError

logger = logging.getLogger(__name__)
BODY_S = 30.0
"""Timeout for receiving a statement."""
STALL_S = 30.0
"""Timeout for a bundle upload without progress."""
BATCH = 256
"""Maximum number of statements in one write to disk."""
WAITING = 2000
"""Maximum number of queued statements; further ones are refused with status 503."""
KNOWN_CLIENTS = 10_000


@dataclass
class ClientLimits:
    """Limits per client and per key."""

    writes_per_s: float = 20.0
    reads_per_s: float = 100.0
    burst_s: float = 10.0
    """Size of a burst, in seconds of the rate."""
    bundle_bytes: int = 4 << 30
    free_bytes: int = 1 << 30
    """Free disk space that bundles must leave for statements."""


class RateLimit:
    """Token bucket per name; only the most recent names are remembered."""

    def __init__(self, per_s: float, burst_s: float) -> None:
        self._per_s, self._most = per_s, per_s * burst_s
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str, now_s: float) -> bool:
        """Return whether another request is within the limit, and count it."""
        left, before = self._left.pop(name, (self._most, now_s))
        left = min(self._most, left + (now_s - before) * self._per_s)
        allowed = left >= 1
        self._left[name] = (left - allowed, now_s)
        if len(self._left) > KNOWN_CLIENTS:
            self._left.popitem(last=False)
        return allowed


@dataclass
class Waiting:
    """Queued statement and its pending receipt."""

    signed: Signed
    answer: asyncio.Future[Receipt | BoardError]


@dataclass
class Service:
    """State of one `podium board serve` process."""

    ledger: Ledger
    limits: ClientLimits = field(default_factory=ClientLimits)

    def __post_init__(self) -> None:
        self._reading = asyncio.Lock()
        self._queue: asyncio.Queue[Waiting] = asyncio.Queue(WAITING)
        self._writes = RateLimit(self.limits.writes_per_s, self.limits.burst_s)
        self._reads = RateLimit(self.limits.reads_per_s, self.limits.burst_s)

    def app(self) -> ASGIApp:
        """Return the web application."""

        @contextlib.asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            writer = asyncio.create_task(self._write())
            yield
            writer.cancel()

        return Starlette(
            routes=[
                Route("/health", self.health),
                Route("/board.json", self.file),
                Route("/head.json", self.file),
                Route("/ledger/{segment:str}", self.file),
                Route("/consistency", self.consistency),
                Route("/statements", self.append, methods=["POST"]),
                Route("/bundles/{name:str}", self.bundle, methods=["GET", "PUT"]),
            ],
            exception_handlers={BoardError: _refuse, HTTPException: _say},
            lifespan=lifespan,
        )

    async def health(self, request: Request) -> Response:
        """Respond to a health check with the number of entries and of queued statements."""
        size = self.ledger.head().statement["size"]
        return JSONResponse({"status": "ok", "entries": size, "waiting": self._queue.qsize()})

    async def file(self, request: Request) -> Response:
        """Respond with a file of the ledger."""
        self._limit(self._reads, request)
        name = request.url.path.rpartition("/")[2]
        segment = request.path_params.get("segment")
        path = self.ledger.folder / ("ledger" if segment else "") / name
        if (segment and not _is_segment(name)) or not path.is_file():
            raise HTTPException(404, "This file does not exist.")
        return FileResponse(path, media_type="application/json", headers={"Cache-Control": "no-store"})

    async def consistency(self, request: Request) -> Response:
        """Respond with a consistency proof between two sizes of the ledger."""
        self._limit(self._reads, request)
        try:
            old, new = int(request.query_params["old"]), int(request.query_params["new"])
            proof = self.ledger.prove_consistency(old, new)
        except (KeyError, ValueError) as error:
            raise HTTPException(400, f"Required: old and new with 0 < old <= new <= entries ({error}).") from error
        return JSONResponse({"old": old, "new": new, "proof": proof})

    async def append(self, request: Request) -> Response:
        """Append a signed statement and respond with its receipt."""
        self._limit(self._writes, request)
        try:
            async with asyncio.timeout(BODY_S):
                body = await _body(request, STATEMENT_BYTES + 1024)
        except TimeoutError as error:
            raise HTTPException(408, f"The statement did not arrive within {BODY_S:.0f} seconds.") from error
        try:
            document = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise BoardError("The statement is not JSON.") from error
        signed = await run_in_threadpool(Signed.from_dict, document)
        if not self._writes.take(signed.key, time.monotonic()):
            raise HTTPException(429, "Too many statements from this key. Wait a moment and try again.")
        waiting = Waiting(signed, asyncio.get_running_loop().create_future())
        try:
            self._queue.put_nowait(waiting)
        except asyncio.QueueFull as error:
            raise HTTPException(503, "The board is busy. Try again later.") from error
        answer = await waiting.answer
        if isinstance(answer, BoardError):
            raise answer
        return JSONResponse(answer.to_dict())

    async def bundle(self, request: Request) -> Response:
        """Respond with a bundle, or store one whose publication is in the ledger."""
        name = request.path_params["name"]
        digest = name.removesuffix(".zip")
        if not HEX64.fullmatch(digest):
            raise HTTPException(404, "This bundle does not exist.")
        path = self.ledger.folder / "bundles" / f"{digest}.zip"
        if request.method == "GET":
            self._limit(self._reads, request)
            if not path.is_file():
                raise HTTPException(404, "This bundle does not exist.")
            return FileResponse(path, media_type="application/zip")
        self._limit(self._writes, request)
        if not path.exists():
            # Only published bundles may use disk space.
            if not await run_in_threadpool(self.ledger.index.is_published, digest):
                raise BoardError("This bundle has no publication in the ledger. Run: podium publish --to BOARD")
            await self._receive(request, path, digest)
        return JSONResponse({"bundle": digest})

    async def _receive(self, request: Request, path: Path, digest: str) -> None:
        aside = path.with_name(f".{secrets.token_hex(8)}.part")
        try:
            with aside.open("xb") as file:
                async for chunk in _chunks(request, self.limits.bundle_bytes):
                    self._check_room()
                    await run_in_threadpool(file.write, chunk)
                await run_in_threadpool(os.fsync, file.fileno())
            async with self._reading:  # reading an untrusted archive may need much memory, so one at a time
                bundle = await run_in_threadpool(read_bundle, aside)
            if bundle.digest != digest:
                raise BoardError(f"The uploaded file is bundle {bundle.digest}, not {digest}.")
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)

    def _check_room(self) -> None:
        if shutil.disk_usage(self.ledger.folder).free < self.limits.free_bytes:
            raise HTTPException(503, "The board has no disk space for bundles. Try again later.")

    async def _write(self) -> None:
        """Append queued statements in batches, one write to disk each."""
        while True:
            batch = [await self._queue.get()]
            while len(batch) < BATCH and not self._queue.empty():
                batch.append(self._queue.get_nowait())
            answers: Sequence[Receipt | BoardError]
            try:
                answers = await run_in_threadpool(self.ledger.answer, [waiting.signed for waiting in batch])
            except Exception as error:  # a full disk or a locked index is not the fault of a statement; keep serving
                logger.exception("The statements could not be appended.")
                answers = [UnreachableError(f"The board cannot write to disk: {error}")] * len(batch)
            for waiting, answer in zip(batch, answers, strict=True):
                if not waiting.answer.done():
                    waiting.answer.set_result(answer)

    def _limit(self, limit: RateLimit, request: Request) -> None:
        client = request.client.host if request.client else "?"
        if not limit.take(client, time.monotonic()):
            raise HTTPException(429, "Too many requests. Wait a moment and try again.")


def _is_segment(name: str) -> bool:
    return len(name) == 11 and name.endswith(".jsonl") and name[:5].isdecimal() and name.isascii()


async def _body(request: Request, max_bytes: int) -> bytes:
    return b"".join([chunk async for chunk in _chunks(request, max_bytes)])


async def _chunks(request: Request, max_bytes: int) -> AsyncIterator[bytes]:
    """Yield the body of a request in chunks, with a timeout per chunk and a maximum size."""
    size = 0
    stream = request.stream()
    try:
        while True:
            async with asyncio.timeout(STALL_S):
                chunk = await anext(stream, None)
            if chunk is None:
                return
            size += len(chunk)
            if size > max_bytes:
                raise HTTPException(413, f"The request is larger than {max_bytes:,} bytes.")
            yield chunk
    except TimeoutError as error:
        raise HTTPException(408, f"No data was received for {STALL_S:.0f} seconds.") from error
    except ClientDisconnect as error:
        raise HTTPException(400, "The client disconnected.") from error


def _refuse(request: Request, error: Exception) -> Response:
    return PlainTextResponse(f"{error}\n", 503 if isinstance(error, UnreachableError) else 400)


def _say(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return PlainTextResponse(f"{error.detail}\n", error.status_code)


def serve(folder: Path, *, host: str, port: int, limits: ClientLimits, ready: Callable[[str], None]) -> None:
    """Serve a board until interrupted.

    Args:
        ready: Callback with the address, called once the service accepts requests.
    """
    import uvicorn

    service = Service(Ledger(folder), limits)
    listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    config = uvicorn.Config(
        service.app(),
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=500,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=5,
        h11_max_incomplete_event_size=16 << 10,
    )
    ready(f"http://{host}:{listener.getsockname()[1]}")
    uvicorn.Server(config).run(sockets=[listener])
