"""Rules for every answer: only this machine is answered, and a page runs and loads nothing but our own files."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from urllib.parse import quote, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from podium.report.results import RunKey

LOOPBACK = ("127.0.0.1", "localhost", "::1")
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
ATTACHMENT_POLICY = "sandbox; default-src 'none'"
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with less, browsers hide from our own forms where they come from
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class LocalOnly:
    """Refuses requests under another name than this machine's, and puts the same headers on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", POLICY)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-cache" if scope["path"].startswith("/static/") else "no-store")
            await send(message)

        app: ASGIApp = self._app
        if not is_local(Request(scope).headers.get("host", "")):
            # A page elsewhere can make its own name lead to this machine, and a browser would then let it read us.
            app = PlainTextResponse("This page is for this machine only: open it as http://127.0.0.1:PORT\n", 421)
        await app(scope, receive, send_guarded)


def is_local(host: str) -> bool:
    """Whether a Host header names this machine; the port may be that of a tunnel."""
    return re.fullmatch(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?", host) is not None


class FormToken:
    """A secret in each of our forms, so that pages elsewhere cannot post them."""

    def __init__(self) -> None:
        self.text = secrets.token_urlsafe(24)

    def fits(self, request: Request, given: str) -> bool:
        """Whether a request comes from one of our pages."""
        origin = request.headers.get("origin")
        is_ours = origin is None or urlsplit(origin).netloc == request.headers.get("host")
        is_same_site = request.headers.get("sec-fetch-site", "same-origin") == "same-origin"
        return is_ours and is_same_site and secrets.compare_digest(given.encode(), self.text.encode())


def run_address(key: RunKey) -> str:
    """The address of a run's page."""
    return f"/runs/{quote(key.experiment)}/{quote(key.task)}/{key.seed}"


def experiment_address(name: str) -> str:
    """The address of an experiment's page."""
    return f"/experiments/{quote(name)}"


def task_address(task: str) -> str:
    """The address of a task's page."""
    return f"/tasks/{quote(task)}"


def attachment(name: str) -> dict[str, str]:
    """Headers of something an agent wrote: saved, never shown."""
    plain = re.sub(r"[^\w.-]+", "_", name.rpartition("/")[2], flags=re.ASCII).strip("._")[:100] or "content"
    return {"Content-Disposition": f'attachment; filename="{plain}"', "Content-Security-Policy": ATTACHMENT_POLICY}


class Pages:
    """Some of many things, page by page."""

    def __init__(self, total: int, size: int, page: int, address: Callable[[int], str]) -> None:
        self.total, self.size = total, size
        self.count = max(1, -(-total // size))
        self.page = min(max(1, page), self.count)
        self.address = address

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.size

    @property
    def first(self) -> int:
        return min(self.offset + 1, self.total)

    @property
    def last(self) -> int:
        return min(self.offset + self.size, self.total)
