"""Base image of containers that show the host's system: nothing but mount points."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from podium.sandbox.linux import mounts
from podium.sandbox.spec import HOME

if TYPE_CHECKING:
    from docker import DockerClient

REPOSITORY = "podium-host"
_FOLDERS = ("dev", "etc", "etc/ssl", "home", "proc", "run", "run/podium", "sys", "tmp", "usr", "var", "var/tmp")


def host_image(client: DockerClient, user: str) -> str:
    """Return the name of the image in an engine, creating it if it is missing, without a network.

    Args:
        user: user ID and group ID of programs, separated by a colon.
    """
    from docker.errors import ImageNotFound

    content = _archive(user)
    tag = hashlib.sha256(content).hexdigest()[:16]
    name = f"{REPOSITORY}:{tag}"
    try:
        client.images.get(name)
    except ImageNotFound:
        client.api.import_image_from_data(content, repository=REPOSITORY, tag=tag)
    return name


def _archive(user: str) -> bytes:
    """Return the files of the image; the same bytes as long as the host's system is the same."""
    number, _, group = user.partition(":")
    files = {
        "etc/passwd": f"agent:x:{number}:{group}::{HOME}:/bin/sh\n".encode(),
        "etc/group": f"agent:x:{group}:\n".encode(),
    }
    for name in mounts.ETC:
        path = Path("/etc", name)
        if path.is_file():
            files[f"etc/{name}"] = path.read_bytes()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in _FOLDERS:
            archive.addfile(_entry(name, tarfile.DIRTYPE, mode=0o755))
        for name in mounts.SYSTEM_LINKS:
            if Path("/", name).is_symlink():
                archive.addfile(_entry(name, tarfile.SYMTYPE, target=str(Path("/", name).readlink())))
        for name, content in files.items():
            archive.addfile(_entry(name, tarfile.REGTYPE, size=len(content)), io.BytesIO(content))
    return buffer.getvalue()


def _entry(name: str, kind: bytes, *, mode: int = 0o644, target: str = "", size: int = 0) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.linkname, entry.size = kind, mode, target, size
    return entry
