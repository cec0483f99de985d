"""Connection to a Ray cluster; starts a local one if there is none."""

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
"""Idle worker processes kept by each node of a local cluster."""


def require_ray() -> None:
    """
    Raises:
        MissingExtraError: Ray is not installed.
    """
    if find_spec("ray") is None:
        raise MissingExtraError("A Ray cluster", "cluster")


def import_ray() -> Any:
    """Import Ray, which reads its settings from environment variables at import time."""
    require_ray()
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    return ray


def state_file() -> Path:
    """Return the file in which `podium cluster up` stores the address of its cluster."""
    return Path(tempfile.gettempdir()) / f"podium-cluster-{os.geteuid()}.json"


def known_address() -> str | None:
    """Return the default address: `$RAY_ADDRESS`, or that of `podium cluster up`."""
    if address := os.environ.get("RAY_ADDRESS"):
        return address
    try:
        found = json.loads(state_file().read_text(encoding="utf-8"))
        os.kill(int(found["pid"]), 0)
        return str(found["address"])
    except (OSError, ValueError, KeyError):
        return None


def connect(address: str | None) -> Any:
    """Connect to the cluster at an address, the default cluster, or a new one on this machine.

    Returns Ray's context; None if this process is already connected.

    Raises:
        UsageError: no cluster responds at the address.
        PodiumError: the connection failed.
    """
    chosen = address or known_address()
    if chosen is not None and chosen.startswith("127.0.0.1:"):
        # Otherwise Ray looks for the cluster at an external address of this machine.
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
    except (ConnectionError, ValueError, RuntimeError) as error:  # for example, different versions of Ray or Python
        raise PodiumError(f"Cannot connect to the Ray cluster at {chosen}: {error}") from error


def _require_answer(address: str) -> None:
    """Refuse an address without a listener; Ray itself would retry for minutes."""
    host, _, port = address.rpartition(":")
    if not (host and port.isdecimal()):
        return  # such as `auto`, which Ray resolves
    try:
        socket.create_connection((host, int(port)), ANSWER_S).close()
    except OSError as error:
        raise UsageError(
            f"No Ray cluster responds at {address}: {error}. Start one with: podium cluster up, or ray start --head"
        ) from error
