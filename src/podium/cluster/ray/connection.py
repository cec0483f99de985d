"""Joins a Ray cluster, or starts one on this machine when there is none to join."""

from __future__ import annotations

import json
import logging
import os
import socket
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from podium.cluster.ray.actors import NAMESPACE
from podium.errors import MissingExtraError, PodiumError, UsageError

ANSWER_S = 10.0
LOCAL_WORKERS = 16
"""Processes that a node of a local cluster keeps for the next runs."""


def require_ray() -> None:
    """
    Raises:
        MissingExtraError: it is not installed.
    """
    if find_spec("ray") is None:
        raise MissingExtraError("A Ray cluster", "cluster")


def import_ray() -> Any:
    """The package, which reads its settings when it is first imported."""
    require_ray()
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    return ray


def state_file() -> Path:
    """Where `podium cluster up` notes the cluster that it started for this user."""
    return Path(tempfile.gettempdir()) / f"podium-cluster-{os.geteuid()}.json"


def known_address() -> str | None:
    """The address of a cluster to join without being told: `$RAY_ADDRESS`, or that of `podium cluster up`."""
    if address := os.environ.get("RAY_ADDRESS"):
        return address
    try:
        found = json.loads(state_file().read_text(encoding="utf-8"))
        os.kill(int(found["pid"]), 0)
        return str(found["address"])
    except (OSError, ValueError, KeyError):
        return None


def connect(address: str | None) -> Any:
    """Joins the cluster at an address, or one that is known, or a new one on this machine.

    Returns what Ray says of it; None if this process has joined one before.

    Raises:
        UsageError: nobody listens at the address.
        PodiumError: it cannot be joined.
    """
    chosen = address or known_address()
    if chosen is not None and chosen.startswith("127.0.0.1:"):
        # Or Ray would look for the cluster at an outer address of this machine.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    ray = import_ray()
    if ray.is_initialized():
        return None
    if chosen is not None:
        _require_answer(chosen)
    settings: dict[str, Any] = {"namespace": NAMESPACE, "log_to_driver": False, "logging_level": logging.ERROR}
    try:
        if chosen is None:
            system = {"num_workers_soft_limit": LOCAL_WORKERS}
            settings |= {"include_dashboard": False, "_node_ip_address": "127.0.0.1", "_system_config": system}
        return ray.init(address=chosen or "local", **settings)
    except (ConnectionError, ValueError, RuntimeError) as error:  # such as versions of Ray or Python that differ
        raise PodiumError(f"The Ray cluster at {chosen} cannot be joined: {error}") from error


def _require_answer(address: str) -> None:
    """Refuses an address at which nobody listens; Ray itself would try again for minutes."""
    host, _, port = address.rpartition(":")
    if not (host and port.isdecimal()):
        return  # such as `auto`: Ray knows
    try:
        socket.create_connection((host, int(port)), ANSWER_S).close()
    except OSError as error:
        raise UsageError(
            f"No Ray cluster answers at {address}: {error}. Start one with: podium cluster up, or ray start --head"
        ) from error
