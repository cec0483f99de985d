"""Granted network: the sandbox's own namespace, with the Internet or a list of hosts."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import island
import pytest
from pydantic import ValidationError

from podium.errors import PodiumError
from podium.sandbox.linux import network
from podium.sandbox.linux.bubblewrap import Bubblewrap
from podium.sandbox.linux.proxy import MAX_CONNECTIONS, RefusedError, is_public, parse_head, parse_host
from podium.sandbox.none import NoSandbox
from podium.sandbox.spec import NetworkAccess, SandboxSpec

ISLAND = Path(island.__file__)


@cache
def explore(carrier: str) -> dict[str, Any]:
    """Return the answers that sandboxes get on a machine with its own simulated Internet."""
    command = ["unshare", "--net", "--mount", sys.executable, str(ISLAND), carrier]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(params=sorted(network.CARRIERS))
def island(request: pytest.FixtureRequest) -> dict[str, Any]:
    if os.getuid() != 0 or shutil.which(request.param) is None or not os.access("/dev/net/tun", os.W_OK):
        pytest.skip(f"needs root, {request.param} and /dev/net/tun")
    return explore(request.param)


def test_only_the_internet_is_reachable(island: dict[str, Any]) -> None:
    found = island["open"]
    assert found.pop("http://some.example/") == "internet some.example/"
    assert found.pop("direct 11.22.33.44") is None
    assert len(found) == 8 and all("Error" in answer for answer in found.values())
    assert island["policies"] == ["own", "hosts"]


def test_only_listed_hosts_are_reachable(island: dict[str, Any]) -> None:
    found = island["listed"]
    refused = "HTTPError: HTTP Error 403: Forbidden"
    assert found == {
        "http://allowed.example/x?y": "internet allowed.example/x?y",
        "http://a.below.example": "internet a.below.example/",
        "http://other.example": refused,
        "http://below.example": refused,
        "http://11.22.33.44": refused,
        "http://rebind.example:9999": refused,  # allowed, but its name leads to the machine
        "http://allowed.example:9999": refused,
        "http://pinned.lan:9999": "secret pinned.lan:9999/",
        "direct 11.22.33.44": "OSError",
        "direct 127.0.0.1": "ConnectionRefusedError",
        "direct fd00::1": "OSError",
    }
    assert "pinned.lan:9999=127.0.0.1" in island["hosts"]


def skip_without_a_carrier() -> None:
    try:
        network.find_carrier()
    except PodiumError as error:
        pytest.skip(str(error))


@pytest.fixture
def greeter() -> Iterator[int]:
    """Start a server on the host that answers everything with a greeting; yield its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def greet() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(1 << 16)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nwelcome")

        threading.Thread(target=greet, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


ASK = """
import http.client, os, urllib.request
print(urllib.request.urlopen("http://here.test:{port}/").read().decode())
tunnel = http.client.HTTPConnection("localhost", 3128)
tunnel.set_tunnel("here.test", {port})
tunnel.request("GET", "/")
print(tunnel.getresponse().read().decode())
"""


def test_host_with_an_address_is_reached_by_request_and_by_tunnel(spec: SandboxSpec, greeter: int) -> None:
    listed = spec.model_copy(update={"network": (f"here.test:{greeter}=127.0.0.1",)})
    with Bubblewrap().open(listed) as sandbox:
        result = sandbox.run(["python", "-c", ASK.format(port=greeter)])
    assert (result.stdout.text.split(), result.stderr.text) == (["welcome", "welcome"], "")


FLOOD = """
import socket
kept = [socket.create_connection(("localhost", 3128)) for _ in range(int({most}))]
for connection in kept:
    connection.send(b"GET http://")
one_more = socket.create_connection(("localhost", 3128))
print(one_more.recv(100).split()[1].decode())
"""


def test_proxy_connections_are_limited(spec: SandboxSpec) -> None:
    with Bubblewrap().open(spec.model_copy(update={"network": ("allowed.example",)})) as sandbox:
        assert sandbox.run(["python", "-c", FLOOD.format(most=MAX_CONNECTIONS)]).stdout.text == "503\n"


OWNER = """
import os
from podium.sandbox.linux.bubblewrap import Bubblewrap
from podium.sandbox.spec import SandboxSpec
sandbox = Bubblewrap().open(SandboxSpec(network={access}))
print(sandbox._helper._process.pid, flush=True)
{end}
"""


@pytest.mark.parametrize("end", ["sandbox.stop()", "os.kill(os.getpid(), 9)"])
@pytest.mark.parametrize("access", [("a.test",), True])
def test_network_helper_ends_with_its_owner(access: NetworkAccess, end: str) -> None:
    if access is True:
        skip_without_a_carrier()
    code = OWNER.format(access=access, end=end)
    started = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    pid = int(started.stdout.readline())
    started.communicate()
    with pytest.raises(ProcessLookupError):
        while True:  # the closed pipe tells the helper to exit; otherwise this test would never end
            os.killpg(pid, 0)


@pytest.mark.parametrize(("has", "advice"), [((), "apt install passt"), (("pasta",), "apt install iproute2")])
def test_missing_network_programs_are_reported_with_advice(
    spec: SandboxSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has: tuple[str, ...], advice: str
) -> None:
    for name in ("bwrap", *has):
        (tmp_path / name).symlink_to(shutil.which(name) or "/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PodiumError, match=advice):
        Bubblewrap().check(spec.model_copy(update={"network": True}))
    Bubblewrap().check(spec.model_copy(update={"network": ("pypi.org",)}))


def test_list_of_hosts_is_refused_without_a_sandbox() -> None:
    with pytest.raises(PodiumError, match="needs a sealed sandbox"):
        NoSandbox().check(SandboxSpec(network=("pypi.org",)))


@pytest.mark.parametrize("text", ["spaceship-titanic", "", "a b.org", "http://pypi.org", "x.org=nowhere", "a.org:http"])
def test_invalid_host_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not"):
        parse_host(text)
    with pytest.raises(ValidationError):
        SandboxSpec(network=(text,))


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.1.2.3", "192.168.0.1", "172.20.0.1", "169.254.169.254", "0.0.0.0", "224.0.0.1"]
)
def test_private_addresses_are_not_public(address: str) -> None:
    assert not is_public(address)
    assert is_public("1.1.1.1")


def test_proxy_headers_are_not_forwarded() -> None:
    head = b"GET http://me@A.example:8080/x?y HTTP/1.1\r\nHost: other\r\nProxy-Authorization: x\r\nAccept: */*\r\n\r\n"
    method, target, first = parse_head(head)
    assert (method, target) == ("GET", ("a.example", 8080))
    assert first == b"GET /x?y HTTP/1.1\r\nHost: A.example:8080\r\nConnection: close\r\nAccept: */*\r\n\r\n"


@pytest.mark.parametrize(
    "line", [b"GET / HTTP/1.1", b"GET ftp://a.b/ HTTP/1.1", b"nonsense", b"CONNECT a:b:c HTTP/1.1"]
)
def test_requests_not_meant_for_a_proxy_are_refused(line: bytes) -> None:
    with pytest.raises(RefusedError):
        parse_head(line + b"\r\n\r\n")
