"""Submission format checker at http://localhost:5000 inside the sandbox, served by the host.

The socket belongs to the sandbox, so no network is involved. Only public files are read, never the answers. Clients may
be hostile: the number, duration and size of requests are limited.
"""

from __future__ import annotations

import contextlib
import json
import logging
import mmap
import re
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

_SLACK_BYTES = 1 << 20
MAX_CONNECTIONS = 16
_MAX_PARALLEL_UPLOADS = 4
RECEIVE_TIMEOUT_S = 60.0
"""Time limit for receiving a whole request."""
_BUSY = (
    b"HTTP/1.0 503 Service Unavailable\r\nContent-Type: application/json\r\n\r\n"
    + json.dumps({"error": "busy", "details": f"There are more than {MAX_CONNECTIONS} connections."}).encode()
)


class Validator:
    """HTTP server that validates submissions until it is closed. `check` returns the problem with a file, or None."""

    def __init__(self, listener: socket.socket, check: Callable[[Path], str | None], *, limit_bytes: int) -> None:
        self.asked = 0
        self._check, self._limit = check, limit_bytes
        self._slots = threading.Semaphore(_MAX_PARALLEL_UPLOADS)
        self._checking = threading.Lock()  # a check needs several times the memory of its file
        self._server = _Server(listener, self)
        self._thread = threading.Thread(target=self._serve, name="podium-validator", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        self._server.serve_forever(poll_interval=0.05)  # bounds the time `close` takes

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def respond(self, receive: Callable[[Path], bool], length: int, content_type: str) -> tuple[int, dict[str, str]]:
        """Return status and answer for an upload of `length` bytes; `receive` saves it and returns whether all came."""
        self.asked += 1
        if length > self._limit + _SLACK_BYTES:
            return 413, {"result": f"Submission is invalid: it is larger than {self._limit:,} bytes."}
        with self._slots, tempfile.TemporaryDirectory(prefix="podium-validate-") as folder:
            upload = Path(folder, "upload")
            if not receive(upload):
                return 400, {"error": "incomplete", "details": "The request body is shorter than its Content-Length."}
            submission = Path(folder, "submission.csv")
            if not _extract(upload, submission, content_type):
                return 400, {"error": "no file", "details": "Send the submission as the form field 'file'."}
            upload.unlink(missing_ok=True)
            with self._checking:
                fault = self._check(submission)
        return 200, {"result": "Submission is valid." if fault is None else f"Submission is invalid! {fault}"}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, listener: socket.socket, validator: Validator) -> None:
        super().__init__(("127.0.0.1", 0), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.validator = validator
        self._open = threading.Semaphore(MAX_CONNECTIONS)
        self._receiving: dict[socket.socket, float] = {}

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._open.acquire(blocking=False):
            request.send(_BUSY, socket.MSG_DONTWAIT)
            self.shutdown_request(request)
            return
        self._receiving[request] = time.monotonic() + RECEIVE_TIMEOUT_S
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.received(request)
            self._open.release()

    def received(self, request: socket.socket) -> None:
        """Mark a request as received, which lifts its deadline."""
        self._receiving.pop(request, None)

    def service_actions(self) -> None:
        """Shut down connections past their deadline; called by the server in its polling loop."""
        for request, deadline in list(self._receiving.items()):
            if time.monotonic() > deadline:
                with contextlib.suppress(OSError):  # it has just closed by itself
                    request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        logger.debug("A connection to the validation server failed.", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        self._answer(*((200, {"status": "running"}) if self.path == "/health" else (404, {"error": "not found"})))

    def do_POST(self) -> None:
        if self.path != "/validate":
            self._answer(404, {"error": "not found", "details": "POST the submission to /validate."})
            return
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            self._answer(411, {"error": "length required", "details": "Send a Content-Length header."})
            return

        def receive(path: Path) -> bool:
            is_whole = _save(self.rfile, length, path)
            self.server.received(self.connection)
            return is_whole

        status, document = self.server.validator.respond(receive, length, self.headers.get("Content-Type", ""))
        self._answer(status, document)
        if status == 413:
            self._drop_the_rest()

    def _drop_the_rest(self) -> None:
        """Read and discard the rest of the request: clients do not read the answer before they have sent everything."""
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_WR)
        while self.connection.recv(1 << 16):
            pass

    def _answer(self, status: int, document: dict[str, str]) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        logger.debug(format, *args)


def _save(body: Any, length: int, path: Path) -> bool:
    """Write a request body to a file and return whether it was complete."""
    with path.open("wb") as file:
        while length > 0 and (piece := body.read(min(length, 1 << 20))):
            file.write(piece)
            length -= len(piece)
    return length <= 0


def _extract(upload: Path, target: Path, content_type: str) -> bool:
    """Extract the file from a multipart form without loading it into memory; any other body is the file itself."""
    found = re.search(r'boundary="?([^";]+)', content_type)
    if not content_type.startswith("multipart/form-data") or found is None:
        upload.rename(target)
        return True
    mark = b"--" + found[1].encode("latin-1")
    if upload.stat().st_size == 0:
        return False
    with upload.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        start = view.find(b'name="file"')
        start = view.find(b"\r\n\r\n", start) + 4 if start >= 0 else 3
        end = view.find(b"\r\n" + mark, start - 2)
        if start == 3 or end < start - 2:
            return False
        with target.open("wb") as out:
            for place in range(start, max(end, start), 1 << 20):
                out.write(view[place : min(place + (1 << 20), end)])
    return True
