"""A stand-in for kaggle.com that speaks the protocol of Kaggle's own client."""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PORT = 7777
"""Where Kaggle's client looks when KAGGLE_API_ENVIRONMENT is TEST."""
CHUNK = 1 << 20
"""How much the client writes at a time."""
DOWNLOAD = "/api/v1/competitions.CompetitionApiService/DownloadDataFiles"
LIST = "/api/v1/kernels.KernelsApiService/ListKernels"
GET = "/api/v1/kernels.KernelsApiService/GetKernel"


class Kaggle(ThreadingHTTPServer):
    """A stand-in for kaggle.com: one archive, and whatever refusal a test wants."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("localhost", PORT), Handler)
        self.archive = b""
        self.refusal: int | None = None
        self.announced_md5: str | None = None
        self.announced_size: int | None = None
        self.break_after: list[int] = []
        """Bytes after which each of the next answers is cut off."""
        self.ranges: list[str] = []
        self.silent_s = 0.0
        """How long it waits before it answers."""
        self.notebooks: dict[str, dict[str, Any]] = {}
        """What is known of each, by AUTHOR/TITLE, the most-voted first."""
        self.asked: list[dict[str, Any]] = []


class Handler(BaseHTTPRequestHandler):
    server: Kaggle

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(self.server.silent_s)
        if self.server.refusal:
            self._answer(self.server.refusal, {"code": self.server.refusal, "message": "no"})
            return
        if self.path in (LIST, GET):
            self._answer(200, self._about_notebooks(json.loads(asked)))
            return
        assert self.path == DOWNLOAD
        self.send_response(302)
        self.send_header("Location", f"http://localhost:{PORT}/archive.zip")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _about_notebooks(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.server.asked.append(asked)
        known = self.server.notebooks
        if self.path == LIST:
            start = (asked.get("page", 1) - 1) * asked["pageSize"]
            return {"kernels": [{"ref": name} for name in list(known)[start : start + asked["pageSize"]]]}
        return {"blob": known[f"{asked['userName']}/{asked['kernelSlug']}"]}

    def _answer(self, status: int, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        archive = self.server.archive
        wanted = self.headers.get("Range")
        self.server.ranges.append(wanted or "all")
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        self.send_response(206 if wanted else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", '"one"')
        self.send_header("Content-Type", "application/zip")
        self.send_header("Content-Length", str(self.server.announced_size or len(archive) - start))
        if self.server.announced_md5:
            self.send_header("x-goog-hash", f"crc32c=AAAAAA==,md5={self.server.announced_md5}")
        self.end_headers()
        stop = start + self.server.break_after.pop(0) if self.server.break_after else len(archive)
        self.wfile.write(archive[start:stop])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass
