"""What a sandbox allows: the one description that is mounted, enforced, journalled and shown by `podium verify`."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
HOME = "/home"
USER_ID = 1000


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Mount(_Frozen):
    """A file or folder of the host that is seen inside."""

    source: Path
    target: str
    writable: bool = False


class Limits(_Frozen):
    """Bounds for everything that runs in one sandbox at a time. None: only the machine's own."""

    memory_bytes: int | None = None
    shared_memory_bytes: int = 4 * GIB
    """Size of /dev/shm, where data loaders pass batches."""
    processes: int = 4096
    """Processes and threads."""
    file_bytes: int = 64 * GIB
    """Size of a single file."""
    disk_bytes: int = 100 * GIB
    """Everything the sandbox has written."""
    files: int = 1_000_000


class Policy(_Frozen):
    """One sandbox: what it sees, what it may use."""

    mounts: tuple[Mount, ...] = ()
    hidden: tuple[str, ...] = ()
    """Paths inside mounts that are covered by something empty."""
    environment: dict[str, str] = {}
    cwd: str = HOME
    network: bool = False
    gpus: tuple[int, ...] = ()
    limits: Limits = Limits()
