"""A Ray cluster on this machine whose nodes can be killed."""

from __future__ import annotations

import os
import random
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

GIB = 1 << 30


class Nodes:
    """A head that carries out nothing, and nodes that do."""

    def __init__(self, count: int, scratch: Path) -> None:
        from ray.cluster_utils import Cluster

        self.scratch = scratch
        head = {"num_cpus": 0, "include_dashboard": False, "_system_config": {"num_workers_soft_limit": 4}}
        self._cluster = Cluster(initialize_head=True, head_node_args=head)
        self.address: str = self._cluster.address
        for _ in range(count):
            self.add()

    def add(self) -> Any:
        return self._cluster.add_node(num_cpus=2, memory=2 * GIB)

    def kill(self, rng: random.Random) -> None:
        """Takes a node away as a power cut does, and puts a new one in its place."""
        node = rng.choice(sorted(self._cluster.worker_nodes, key=lambda node: node.unique_id))
        self._cluster.remove_node(node, allow_graceful=False)
        self.add()

    def kill_head(self) -> None:
        """Takes away what all nodes and drivers belong to."""
        self._cluster.remove_node(self._cluster.head_node, allow_graceful=False)

    def workers(self) -> list[int]:
        """Ray's processes that carry out runs."""
        return [pid for pid in pids() if command_of(pid).startswith("ray::") and "run_on_node" in command_of(pid)]

    def runs(self) -> list[int]:
        """The processes that do runs: those that hold the lock of a run's folder in scratch."""
        return [pid for pid in pids() if any("/e/" in name and name.endswith("/.lock") for name in self.files_of(pid))]

    def users(self) -> list[int]:
        """All processes that use something of a run in scratch."""
        return [pid for pid in pids() if any(self.files_of(pid))]

    def files_of(self, pid: int) -> list[str]:
        found = []
        top = str(self.scratch / "runs")
        with suppress(OSError):
            for link in [Path(f"/proc/{pid}/cwd"), *Path(f"/proc/{pid}/fd").iterdir()]:
                with suppress(OSError):
                    name = os.readlink(link)  # noqa: PTH115
                    if name.startswith(top):
                        found.append(name)
        return found

    def shutdown(self) -> None:
        self._cluster.shutdown()


def pids() -> list[int]:
    return [
        int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal() and int(path.name) != os.getpid()
    ]


def command_of(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def kill_one(found: list[int], rng: random.Random) -> bool:
    """Kills a random one of some processes, if there is any."""
    with suppress(ProcessLookupError):
        if found:
            os.kill(rng.choice(found), signal.SIGKILL)
            return True
    return False


@contextmanager
def cluster(count: int) -> Iterator[Nodes]:
    """A cluster that is gone after the block; names are short, since paths of sockets may not be long."""
    before, folder = dict(os.environ), Path(tempfile.mkdtemp(prefix="pr-", dir="/tmp"))
    (folder / "r").mkdir()
    modules = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]))
    os.environ |= {"RAY_TMPDIR": str(folder / "r"), "PODIUM_SCRATCH": str(folder / "n"), "PYTHONPATH": modules}
    os.environ |= {"RAY_health_check_period_ms": "500", "RAY_health_check_failure_threshold": "4"}
    os.environ |= {"RAY_gcs_rpc_server_reconnect_timeout_s": "5"}
    nodes = Nodes(count, folder / "n")
    try:
        yield nodes
    finally:
        nodes.shutdown()
        os.environ.clear()
        os.environ.update(before)
        shutil.rmtree(folder, ignore_errors=True)
