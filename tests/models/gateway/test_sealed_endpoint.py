"""Hostile programs in a sandbox that has an endpoint: they reach it and nothing else, and no key is inside."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import from_thread, to_thread
from anyio.abc import TaskGroup
from model_server import serving
from talkers import in_sample

from podium.models.gateway import gateway_server
from podium.sandbox.backend import Sandbox, find_backend
from podium.sandbox.conformance import CHECKS, Bench

KEY = "sk-of-the-host-4711"
ATTACKS = [name for name in CHECKS if name.startswith("cannot_")]
ENDPOINT_ATTACKS = [
    "cannot_connect_to_the_host",
    "cannot_open_odd_sockets",
    "cannot_read_environments",
    "cannot_use_leaked_descriptors",
]
"""Attacks that an endpoint might make possible."""
SEARCH = """
import json, os, sys, urllib.request

key = sys.stdin.read()[::-1].encode()  # backwards, or the search would find itself
found = [name for name, value in os.environb.items() if key in value]


def look(path):
    try:
        with open(path, "rb") as file:
            if key in file.read(1 << 24):
                found.append(path)
    except OSError:
        pass


for process in filter(str.isdigit, os.listdir("/proc")):
    for name in ("environ", "cmdline", "comm", "stack", "status"):
        look(f"/proc/{process}/{name}")
for top, folders, files in os.walk("/"):
    if top == "/":
        folders[:] = set(folders) - {"proc", "sys", "usr"}
    folders[:] = [name for name in folders if os.path.join(top, name) not in (sys.prefix, sys.base_prefix)]
    for name in files:
        path = os.path.join(top, name)
        if os.path.isfile(path):
            look(path)
lines = [line.split() for name in ("tcp", "tcp6", "udp", "udp6") for line in open(f"/proc/net/{name}").readlines()[1:]]
listening = sorted({int(fields[1].rpartition(":")[2], 16) for fields in lines if fields[3] in ("0A", "07")})
request = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions", b'{"messages": [{"role": "user", "content": "?"}]}'
)
answer = json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
print(json.dumps({"found": found, "listening": listening, "answer": answer}))
"""
DETOURS = """
import json, socket

def said(request):
    with socket.create_connection(("localhost", 8080)) as connection:
        connection.sendall(request.encode())
        return connection.makefile("rb").read().split(b" ")[1].decode()

head = "Host: example.org\\r\\nConnection: close\\r\\n\\r\\n"
print(json.dumps([said(f"{line} HTTP/1.1\\r\\n{head}") for line in (
    "GET http://169.254.169.254/latest/meta-data/",
    "CONNECT example.org:443",
    "GET /v1/../../../etc/passwd",
    "GET /static/..%2f..%2fetc/passwd",
    "OPTIONS *",
)]))
"""


class ServedBench(Bench):
    """Its sandboxes have an endpoint each, as those of runs with a model do."""

    def __init__(self, group: TaskGroup) -> None:
        super().__init__(find_backend("bubblewrap"))
        self._group = group

    def open(self, **spec: Any) -> Sandbox:
        sandbox = super().open(**spec)
        listener = sandbox.listen(gateway_server.PORT)
        assert listener is not None
        from_thread.run_sync(self._group.start_soon, _serve, listener)
        return sandbox


async def _serve(listener: socket.socket) -> None:
    async with gateway_server.serve(listener):
        await anyio.sleep_forever()


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Bench], Any]], Any]:
    """Return a function that runs some work with such a bench; the model's key is in this process."""
    monkeypatch.setenv("PODIUM_API_KEY", KEY)

    def served_(work: Callable[[Bench], Any]) -> Any:
        found: list[Any] = []

        def with_bench(group: TaskGroup) -> None:
            with ServedBench(group) as bench:
                found.append(work(bench))

        async def working() -> None:
            async with anyio.create_task_group() as group:
                await to_thread.run_sync(with_bench, group)
                group.cancel_scope.cancel()

        with serving(lambda request, rng: "yes") as server:
            in_sample(working, server, tmp_path)
        return found[0]

    return served_


@pytest.mark.parametrize("attacks", [ENDPOINT_ATTACKS, pytest.param(ATTACKS, marks=pytest.mark.coding, id="all")])
def test_the_endpoint_gives_hostile_programs_no_additional_reach(
    attacks: list[str], served: Callable[[Callable[[Bench], Any]], Any]
) -> None:
    results = served(lambda bench: [bench.run(name) for name in attacks])
    assert [result for result in results if result.status != "passed"] == []


def run_inside(bench: Bench, program: str, stdin: str = "") -> Any:
    with bench.open() as sandbox:
        result = sandbox.run(["python", "-c", program], stdin=stdin.encode(), environment=gateway_server.environment())
    assert result.exit_code == 0, result.stderr.text
    return json.loads(result.stdout.text)


def test_nothing_but_the_endpoint_listens_and_no_key_is_visible(
    served: Callable[[Callable[[Bench], Any]], Any],
) -> None:
    found = served(lambda bench: run_inside(bench, SEARCH, KEY[::-1]))
    assert found == {"found": [], "listening": [gateway_server.PORT], "answer": "yes"}


def test_the_endpoint_is_not_a_proxy(served: Callable[[Callable[[Bench], Any]], Any]) -> None:
    assert set(served(lambda bench: run_inside(bench, DETOURS))) <= {"400", "404", "405"}
