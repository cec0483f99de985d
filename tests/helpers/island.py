"""A machine with an Internet of its own, in namespaces that end with this process: what can a sandbox on it reach?

Run as root by path in a new network and mount namespace, with the name of a carrier. Prints what programs found.
The Internet is one host, 11.22.33.44: it serves every name that it is asked for, and says that `rebind.example` is at
127.0.0.1. The machine is at 11.22.33.1 and 10.9.8.7, and serves its secret at all of its addresses.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer, ThreadingUDPServer
from typing import Any

from podium.sandbox.backend import Sandbox
from podium.sandbox.linux import network
from podium.sandbox.linux.bubblewrap import Bubblewrap
from podium.sandbox.spec import NetworkAccess, SandboxSpec

INTERNET, MACHINE, SECOND = "11.22.33.44", "11.22.33.1", "10.9.8.7"
SECRET_PORT = 9999
PROBE = """
import json, socket, sys, urllib.request
found = {}
for url in sys.argv[1:]:
    opener = urllib.request.build_opener()
    try:
        found[url] = opener.open(url, timeout=1).read().decode()
    except Exception as error:
        found[url] = f"{type(error).__name__}: {error}"
for address in ("11.22.33.44", "127.0.0.1", "fd00::1"):
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as direct:
        direct.settimeout(1)
        try:
            found[f"direct {address}"] = direct.connect((address, 80))
        except OSError as error:
            found[f"direct {address}"] = type(error).__name__
print(json.dumps(found))
"""


class Page(BaseHTTPRequestHandler):
    text = ""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"{self.text} {self.headers['Host']}{self.path}".encode())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


class NameServer(BaseRequestHandler):
    def handle(self) -> None:
        query, reply = self.request
        question = query[12 : query.index(b"\0", 12) + 5]
        is_ipv4 = question[-4:-2] == b"\0\1"
        address = "127.0.0.1" if b"rebind" in question else INTERNET
        record = b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4" + bytes(map(int, address.split("."))) if is_ipv4 else b""
        head = query[:2] + b"\x81\x80\0\1" + (b"\0\1" if is_ipv4 else b"\0\0") + bytes(4)
        reply.sendto(head + question + record, self.client_address)


def serve(text: str, address: str, port: int) -> None:
    page = type("Named", (Page,), {"text": text})
    threading.Thread(target=ThreadingTCPServer((address, port), page).serve_forever, daemon=True).start()


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


def be_the_internet() -> None:
    """In a namespace of its own: waits for its end of the line, and serves until the machine is gone."""
    while subprocess.run(["ip", "addr", "add", f"{INTERNET}/24", "dev", "far"], capture_output=True).returncode:
        time.sleep(0.01)
    ip("link", "set", "far", "up")
    serve("internet", INTERNET, 80)
    threading.Thread(target=ThreadingUDPServer((INTERNET, 53), NameServer).serve_forever, daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()


@contextlib.contextmanager
def connected_machine() -> Any:
    command = ["unshare", "--net", sys.executable, __file__, "internet"]
    with (
        tempfile.NamedTemporaryFile("w") as resolv_conf,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as internet,
    ):
        assert internet.stdin is not None and internet.stdout is not None
        while Path(f"/proc/{internet.pid}/ns/net").readlink() == Path("/proc/self/ns/net").readlink():
            time.sleep(0.01)
        ip("link", "add", "near", "type", "veth", "peer", "name", "far", "netns", str(internet.pid))
        for place in (("near", f"{MACHINE}/24"), ("lo", f"{SECOND}/32")):
            ip("addr", "add", place[1], "dev", place[0])
            ip("link", "set", place[0], "up")
        ip("route", "add", "default", "via", INTERNET)
        print(f"nameserver {INTERNET}", file=resolv_conf, flush=True)
        subprocess.run(["mount", "--bind", resolv_conf.name, "/etc/resolv.conf"], check=True)
        assert internet.stdout.readline() == b"ready\n"
        serve("secret", "0.0.0.0", SECRET_PORT)
        try:
            yield
        finally:
            internet.stdin.close()


def probe(sandbox: Sandbox, *urls: str) -> Any:
    return json.loads(sandbox.run(["python3", "-c", PROBE, *urls]).stdout.text)


def open_sandbox(access: NetworkAccess) -> Sandbox:
    return Bubblewrap().open(SandboxSpec(network=access))


def explore() -> dict[str, Any]:
    secrets = [
        f"http://{host}:{SECRET_PORT}/"
        for host in ("127.0.0.1", MACHINE, SECOND, network.GATEWAY, network.NAME_SERVER, "169.254.169.254")
    ]
    listed = ("allowed.example", "*.below.example", "rebind.example:9999", f"pinned.lan:{SECRET_PORT}=127.0.0.1")
    with open_sandbox(True) as first, open_sandbox(True) as second, open_sandbox(listed) as bounded:
        for sandbox in (first, second):
            assert sandbox.listen(5000) is not None
        asked = ("allowed.example/x?y", "a.below.example", "other.example", "below.example", INTERNET)
        ports = ("rebind.example:9999", "allowed.example:9999", "pinned.lan:9999")
        return {
            "open": probe(first, "http://some.example/", *secrets),
            "listed": probe(bounded, *(f"http://{host}" for host in (*asked, *ports))),
            "policies": [sandbox.enforced().network for sandbox in (first, bounded)],
            "hosts": bounded.enforced().hosts,
        }


if __name__ == "__main__":
    if sys.argv[1] == "internet":
        be_the_internet()
    else:
        network.CARRIERS = {sys.argv[1]: network.CARRIERS[sys.argv[1]]}
        with connected_machine():
            print(json.dumps(explore()))
        os._exit(0)
