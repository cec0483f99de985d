"""HTTP security: loopback hosts only, strict response headers, form tokens, and the addresses of pages."""

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
    "Referrer-Policy": "same-origin",  # a stricter policy hides the origin of our own forms
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class LocalOnly:
    """Middleware that refuses requests for other hosts and sets security headers on every response."""

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
            # DNS rebinding: a website can resolve its own name to this machine, and browsers would let it read us.
            app = PlainTextResponse("This page is only available on this machine. Open http://127.0.0.1:PORT\n", 421)
        await app(scope, receive, send_guarded)


def is_local(host: str) -> bool:
    """Return whether a Host header names this machine, with any port, as tunnels use others."""
    return re.fullmatch(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?", host) is not None


class FormToken:
    """CSRF token: a secret in every form, so that other websites cannot submit it."""

    def __init__(self) -> None:
        self.text = secrets.token_urlsafe(24)

    def is_valid(self, request: Request, token: str) -> bool:
        """Return whether a request comes from one of our pages."""
        origin = request.headers.get("origin")
        is_ours = origin is None or urlsplit(origin).netloc == request.headers.get("host")
        is_same_site = request.headers.get("sec-fetch-site", "same-origin") == "same-origin"
        return is_ours and is_same_site and secrets.compare_digest(token.encode(), self.text.encode())


def run_address(key: RunKey) -> str:
    """Return the address of a run's page."""
    return f"/runs/{quote(key.experiment)}/{quote(key.task)}/{key.seed}"


def experiment_address(name: str) -> str:
    """Return the address of an experiment's page."""
    return f"/experiments/{quote(name)}"


def task_address(task: str) -> str:
    """Return the address of a task's page."""
    return f"/tasks/{quote(task)}"


def attachment(name: str) -> dict[str, str]:
    """Return the headers of a download with content from an agent, which a browser must not display."""
    plain = re.sub(r"[^\w.-]+", "_", name.rpartition("/")[2], flags=re.ASCII).strip("._")[:100] or "content"
    return {"Content-Disposition": f'attachment; filename="{plain}"', "Content-Security-Policy": ATTACHMENT_POLICY}


class Pages:
    """Pagination: the current page and the addresses of the others."""

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
