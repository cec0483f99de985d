"""Local web server of `podium view`."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import uvicorn

from podium.errors import PodiumError, UsageError
from podium.viewer.app import make_app
from podium.viewer.http_security import LOOPBACK
from podium.viewer.index.experiment_ranking import Filters
from podium.viewer.page_site import Site

PORT = 8765


class _Server(uvicorn.Server):
    """Server that closes event streams first on exit, as they would never end by themselves."""

    def __init__(self, config: uvicorn.Config, closing: threading.Event) -> None:
        super().__init__(config)
        self._closing = closing

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._closing.set()
        super().handle_exit(sig, frame)


def serve(root: Path, *, host: str, port: int | None, ready: Callable[[str, Site], None]) -> None:
    """Serve a folder of experiments until interrupted.

    Args:
        port: None for the default port, or a free one if it is taken.
        ready: Callback with the address and the site, called once pages can be opened.

    Raises:
        UsageError: The host is not this machine, or the folder does not exist.
    """
    if host not in LOOPBACK:
        raise UsageError(
            f"--host {host} would expose the pages to other machines; only {', '.join(LOOPBACK)} are allowed. "
            f"From another machine, open a tunnel: ssh -L {port or PORT}:127.0.0.1:{port or PORT} THIS-MACHINE"
        )
    if not root.is_dir():
        raise UsageError(f"{root} does not exist. Create an experiment with: podium run quick --out {root}/first")
    listener = _listen(host, port)
    site = Site(root)
    site.index.refresh()
    config = uvicorn.Config(
        make_app(site), log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=3
    )
    name = f"[{host}]" if ":" in host else host
    ready(f"http://{name}:{listener.getsockname()[1]}/", site)
    threading.Thread(target=_prepare, args=(site,), daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):
        _Server(config, site.closing).run(sockets=[listener])


def _prepare(site: Site) -> None:
    """Warm up the imports and rankings that the first pages need."""
    import podium.report.score_references  # noqa: F401

    site.ranking.read(Filters())


def _listen(host: str, port: int | None) -> socket.socket:
    for number in (PORT, 0) if port is None else (port,):
        address = (host, number)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            listener.listen(128)
        except OSError as error:
            listener.close()
            reason = error
            continue
        return listener
    raise PodiumError(f"Port {port or PORT} cannot be used ({reason.strerror}). Choose another one with --port.")
