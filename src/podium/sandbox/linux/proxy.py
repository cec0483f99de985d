"""Proxy to a list of hosts: the only way out of a sandbox that may reach only these.

It runs as a separate process on the host and listens on the sandbox's loopback interface; the sandbox has no other
network, so it cannot be bypassed. Names are resolved here, and the address that was checked is the one connected to.
The proxy exits when its standard input is closed.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import re
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

DEFAULT_PORTS = (80, 443)
MAX_CONNECTIONS = 256
HEAD_TIMEOUT_S, CONNECT_TIMEOUT_S = 30.0, 30.0
MAX_HEAD_BYTES, CHUNK_BYTES = 1 << 16, 1 << 16
_ENTRY = re.compile(r"(?P<name>(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*)(:(?P<port>\d{1,5}))?(=(?P<address>[0-9a-f.:]+))?")


@dataclass(frozen=True)
class AllowedHost:
    """Host that programs may reach: `pypi.org`, `*.example.org`, `mirror.lan:3141=10.0.0.5`."""

    name: str
    """Lower-case name; after `*.`, any name with that ending."""
    port: int | None
    """None: 80 and 443."""
    address: str | None
    """Address of the host, regardless of DNS. None: one of the public addresses that its name resolves to."""

    def matches(self, name: str, port: int) -> bool:
        is_below = self.name.startswith("*.") and name.endswith(self.name[1:])
        return (name == self.name or is_below) and port in (DEFAULT_PORTS if self.port is None else (self.port,))


class RefusedError(Exception):
    """Rejected request; `status` is the HTTP status for the program that made it."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def parse_host(text: str) -> AllowedHost:
    """Parse an entry of a list of hosts.

    Raises:
        ValueError: it is not a host.
    """
    entry = _ENTRY.fullmatch(text.strip().lower())
    if entry is None or not set(".:=") & set(text):  # a bare word is more likely a task than a host
        raise ValueError(f"'{text}' is not a host. Write NAME, *.NAME, NAME:PORT or NAME:PORT=ADDRESS")
    address = entry["address"]
    if address is not None:
        ipaddress.ip_address(address)
    return AllowedHost(entry["name"], None if entry["port"] is None else int(entry["port"]), address)


def own_addresses() -> set[str]:
    """Return the IPv4 addresses of this machine."""
    lines = Path("/proc/net/fib_trie").read_text(encoding="ascii").splitlines()
    return {before.split()[-1] for before, line in pairwise(lines) if "host LOCAL" in line}


class Proxy:
    """HTTP proxy for connections to hosts of a list."""

    def __init__(self, hosts: Sequence[AllowedHost]) -> None:
        self._hosts = hosts
        self._open = 0

    async def serve(self, listener: socket.socket) -> None:
        server = await asyncio.start_server(self._answer, sock=listener, limit=MAX_HEAD_BYTES)
        await server.serve_forever()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            if self._open > MAX_CONNECTIONS:
                raise RefusedError(503, f"more than {MAX_CONNECTIONS} simultaneous connections")
            async with asyncio.timeout(HEAD_TIMEOUT_S):
                head = await reader.readuntil(b"\r\n\r\n")
            await self._forward(head, reader, writer)
        except RefusedError as error:
            writer.write(_response(error.status, str(error)))
            with contextlib.suppress(OSError):
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # the program or the host has closed its connection
        finally:
            self._open -= 1
            writer.close()

    async def _forward(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, target, first = parse_head(head)
        name, port = target
        their_reader, their_writer = await self._connect(name, port)
        try:
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 connected\r\n\r\n")
            else:
                their_writer.write(first)
            async with asyncio.TaskGroup() as both:
                both.create_task(_pump(reader, their_writer))
                both.create_task(_pump(their_reader, writer))
        except* OSError:
            pass  # one of the two has closed its connection
        finally:
            their_writer.close()

    async def _connect(self, name: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        for address in await self._addresses(name, port):
            with contextlib.suppress(OSError):
                async with asyncio.timeout(CONNECT_TIMEOUT_S):
                    return await asyncio.open_connection(address, port, limit=CHUNK_BYTES)
        raise RefusedError(502, f"{name}:{port} does not answer")

    async def _addresses(self, name: str, port: int) -> list[str]:
        """Return the addresses to connect to for a host, if it is allowed."""
        allowed = next((host for host in self._hosts if host.matches(name, port)), None)
        if allowed is None:
            listed = ", ".join(host.name for host in self._hosts)
            raise RefusedError(403, f"{name}:{port} is not an allowed host; allowed are: {listed}")
        if allowed.address is not None:
            return [allowed.address]
        try:
            infos = await asyncio.get_running_loop().getaddrinfo(name, port, family=socket.AF_INET)
        except (OSError, UnicodeError) as error:
            raise RefusedError(502, f"{name} cannot be resolved") from error
        addresses = list(dict.fromkeys(str(info[4][0]) for info in infos))
        ours = own_addresses()
        public = [address for address in addresses if is_public(address) and address not in ours]
        if not public:
            raise RefusedError(403, f"{name} resolves to {', '.join(addresses)}, which is not on the Internet")
        return public


def is_public(address: str) -> bool:
    """Return whether an IPv4 address belongs to a host on the Internet."""
    parsed = ipaddress.IPv4Address(address)
    return parsed.is_global and not parsed.is_multicast


def parse_head(head: bytes) -> tuple[str, tuple[str, int], bytes]:
    """Parse the head of a request: method, host and port, and the head as the host itself expects it.

    Raises:
        RefusedError: it is not a request to a proxy.
    """
    lines = head.decode("latin-1").split("\r\n")
    try:
        method, target, version = lines[0].split(" ")
        url = urlsplit(f"//{target}" if method == "CONNECT" else target)
        name, port = (url.hostname or "").rstrip("."), url.port or 80
    except ValueError:
        name = ""
    if not name or (method != "CONNECT" and url.scheme != "http"):
        raise RefusedError(400, "not a request to a proxy")
    path = url._replace(scheme="", netloc="").geturl() or "/"
    kept = [line for line in lines[1:-2] if not re.match(r"(?i)(proxy-[^:]*|connection|host)\s*:", line)]
    first = [f"{method} {path} {version}", f"Host: {url.netloc.rpartition('@')[2]}", "Connection: close", *kept]
    return method, (name, port), "\r\n".join([*first, "", ""]).encode("latin-1")


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(CHUNK_BYTES):
        writer.write(piece)
        await writer.drain()
    writer.write_eof()


def _response(status: int, reason: str) -> bytes:
    body = f"{reason}\n".encode(errors="replace")
    phrase = {400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway", 503: "Service Unavailable"}[status]
    head = f"HTTP/1.1 {status} {phrase}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + body


async def _main(listener: socket.socket, hosts: Sequence[AllowedHost]) -> None:
    asyncio.get_running_loop().add_reader(0, lambda: os._exit(0))
    await Proxy(hosts).serve(listener)


if __name__ == "__main__":
    asyncio.run(_main(socket.socket(fileno=int(sys.argv[1])), [parse_host(text) for text in sys.argv[2:]]))
