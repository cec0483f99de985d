"""Local Ray cluster with several nodes on this machine, kept by a background process; for trials and tests."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from podium.cluster.ray.connection import LOCAL_WORKERS, known_address, require_ray, state_file
from podium.errors import PodiumError, UsageError
from podium.safefs.atomic_files import write_atomically

PATIENCE_S = 300.0
STORE_BYTES = 150 << 20
"""Size of Ray's object store on each node, which Podium hardly uses."""


def start_cluster(nodes: int) -> str:
    """Start a cluster in the background and return its address.

    Raises:
        UsageError: a cluster is already running.
        PodiumError: the cluster does not start.
    """
    require_ray()
    if address := known_address():
        raise UsageError(
            f"A cluster is already running at {address}. Use it with: --on ray, or stop it with: podium cluster down"
        )
    with tempfile.TemporaryFile("w+") as output:
        command = [sys.executable, "-m", __name__, str(nodes)]
        keeper = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
        deadline = time.monotonic() + PATIENCE_S
        while (address := known_address()) is None:
            if keeper.poll() is not None or time.monotonic() > deadline:
                keeper.kill()
                output.seek(0)
                raise PodiumError(f"Ray did not start: {output.read()[-2000:]}")
            time.sleep(0.1)
    return address


def stop_cluster() -> bool:
    """Stop the cluster of `start_cluster` and everything that runs on it; return False if there is none."""
    try:
        keeper = int(json.loads(state_file().read_text(encoding="utf-8"))["pid"])
        ending = os.pidfd_open(keeper)
    except (FileNotFoundError, ProcessLookupError):
        state_file().unlink(missing_ok=True)
        return False
    try:
        signal.pidfd_send_signal(ending, signal.SIGTERM)
        select.select([ending], [], [], PATIENCE_S)
    finally:
        os.close(ending)
    return True


def keep_cluster(nodes: int) -> None:
    """Start nodes and keep them until SIGTERM. They are reachable from this machine only."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    folder = tempfile.mkdtemp(prefix="pc-")  # short, because socket paths are limited to 107 bytes
    os.environ["RAY_TMPDIR"] = folder
    from ray.cluster_utils import Cluster

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    shared = {"node_ip_address": "127.0.0.1", "object_store_memory": STORE_BYTES}
    system = {"num_workers_soft_limit": LOCAL_WORKERS}
    cluster = Cluster(
        initialize_head=True,
        head_node_args={**shared, "num_cpus": 0, "include_dashboard": False, "_system_config": system},
    )
    for _ in range(nodes):
        cluster.add_node(**shared, num_cpus=len(os.sched_getaffinity(0)), memory=int(0.8 * memory / nodes))
    document = {"pid": os.getpid(), "address": cluster.address, "nodes": nodes}
    write_atomically(state_file(), json.dumps(document) + "\n")
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    state_file().unlink(missing_ok=True)
    cluster.shutdown()
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    keep_cluster(int(sys.argv[1]))
