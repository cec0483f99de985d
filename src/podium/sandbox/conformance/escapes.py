"""Escape attempts: each of `programs/reach` prints ACHIEVED for every success, and DONE at the end."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

from podium.errors import PodiumError
from podium.sandbox.conformance.fixtures import (
    CHECKS,
    LIMITS,
    PROGRAMS,
    SECRET,
    Bench,
    Check,
    check,
    closed_network,
    equal,
    raises,
    require,
    sealed,
)
from podium.sandbox.spec import HOME, Mount


def mounts(bench: Bench) -> tuple[Mount, ...]:
    return (
        Mount(source=bench.folder / "public", target=f"{HOME}/data"),
        Mount(source=bench.folder / "eval.py", target=f"{HOME}/kept/eval.py"),
        Mount(source=bench.folder / "eval.py", target=f"{HOME}/kept/deep/inner/eval.py"),
    )


@contextlib.contextmanager
def targets(bench: Bench) -> Iterator[dict[str, object]]:
    """Create targets on the host and yield where they are."""
    named, abstract = bench.folder / "socket", f"podium-conformance-{os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as hidden,
        socket.socket(socket.AF_UNIX) as by_name,
    ):
        os.environ["PODIUM_TEST_KEY"] = "key-of-the-host"
        hidden.bind(f"\0{abstract}")
        by_name.bind(str(named))
        for listening in (hidden, by_name):
            listening.listen()
        paths = {name: str(bench.folder / name / "secret.txt") for name in ("private", "other")}
        try:
            yield {
                "paths": {**paths, "public": str(bench.folder / "public")},
                "port": server.getsockname()[1],
                "addresses": _addresses(),
                "abstract": abstract,
                "socket": str(named),
                "processes": [os.getpid(), os.getppid()],
            }
        finally:
            del os.environ["PODIUM_TEST_KEY"]
            named.unlink()


def _addresses() -> list[str]:
    """Return the addresses of this machine on its networks."""
    with contextlib.suppress(OSError):
        infos = socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
        return sorted({str(info[4][0]) for info in infos})
    return []


def _try_to_reach(bench: Bench, program: Path) -> None:
    with targets(bench) as reachable:
        sandbox = bench.open(limits=LIMITS, mounts=mounts(bench))
        sandbox.write("targets.json", json.dumps(reachable).encode())
        sandbox.write(f"/tmp/{program.name}", program.read_bytes())
        cores = [min(os.sched_getaffinity(0))]
        result = sandbox.run(["python", f"/tmp/{program.name}"], timeout_s=120, cores=cores)
    lines = result.stdout.text.splitlines()
    equal([line for line in lines if line.startswith("ACHIEVED")], [])
    equal((result.exit_code, result.stderr.text, lines[-1:]), (0, "", ["DONE"]))
    require(SECRET not in result.stdout.text)
    equal((bench.folder / "eval.py").read_text(), "original")
    equal((bench.folder / "public" / "train.csv").read_text(), "a,b\n")
    equal(sorted(path.name for path in (bench.folder / "public").iterdir()), ["deep", "train.csv"])
    modes = [path.lstat().st_mode for path in sandbox.workspace.rglob("*")]
    require(not any(mode & stat.S_ISUID for mode in modes), "a set-user-ID file was left")


def _add_programs() -> None:
    for path in sorted((PROGRAMS / "reach").glob("*.pyw")):
        name = f"cannot_{path.stem}"
        CHECKS[name] = Check(name, lambda bench, path=path: _try_to_reach(bench, path), (sealed,))  # type: ignore[misc]


_add_programs()


@check(sealed)
def planted_links_at_mount_points_are_refused(bench: Bench) -> None:
    for number, place in enumerate(("kept/deep", "kept/eval.py", "data")):
        workspace = bench.folder / f"linked-{number}"
        (workspace / place).parent.mkdir(parents=True)
        (workspace / place).symlink_to(bench.folder / "private")
        raises(PodiumError, bench.open, workspace=workspace, mounts=mounts(bench))
    equal([path.name for path in (bench.folder / "private").iterdir()], ["secret.txt"])


@check(closed_network)
def network_is_closed_by_default(bench: Bench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        script = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
        require(bench.open().run(["python", "-c", script]).exit_code != 0, "the host's loopback interface was reached")
