"""Export of a history as a git repository, for people who want to use git on it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from podium.errors import PodiumError
from podium.workspace.history.blob_reader import BlobReader
from podium.workspace.history.snapshot_manifest import SnapshotEntries, SnapshotEntry, SnapshotManifest, SnapshotReader

_MODES = {"file": b"100644", "executable": b"100755", "link": b"120000"}
_BRANCH = b"refs/heads/main"


def export_git(blobs: BlobReader, snapshot: str, folder: Path) -> int:
    """Write a snapshot and its ancestors to a new git repository, one commit each.

    Returns:
        The number of files that were left out because git refuses paths through a folder named `.git`.

    Raises:
        PodiumError: git is not installed, or it failed.
    """
    reader = SnapshotReader(blobs)
    ancestry = list(reader.ancestry(snapshot))[::-1]
    refused: set[bytes] = set()
    try:
        subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(folder)], check=True, env=_environment())
        command = ["git", "-C", str(folder), "fast-import", "--quiet"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, env=_environment()) as process:
            assert process.stdin is not None
            before: SnapshotEntries = {}
            for identity, manifest in ancestry:
                after = reader.read(identity).entries
                process.stdin.writelines(_commit(blobs, manifest, before, after, refused))
                before = after
            process.stdin.close()
        if process.returncode:
            raise PodiumError(f"git fast-import failed with exit code {process.returncode}.")
        subprocess.run(["git", "-C", str(folder), "reset", "--quiet", "--hard"], check=True, env=_environment())
    except FileNotFoundError as error:
        raise PodiumError("git is not installed. Install it to export a history.") from error
    except (subprocess.CalledProcessError, BrokenPipeError) as error:
        raise PodiumError(f"git failed: {error}") from error
    return len(refused)


def _environment() -> dict[str, str]:
    """Return an environment in which git reads no settings of the user or the system."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def _commit(
    blobs: BlobReader, manifest: SnapshotManifest, before: SnapshotEntries, after: SnapshotEntries, refused: set[bytes]
) -> Iterator[bytes]:
    """Yield the commands of git's fast-import for one snapshot."""
    message = manifest.message.encode("utf-8", "replace")
    yield b"commit %b\ncommitter Podium <podium@localhost> %d +0000\n" % (_BRANCH, max(manifest.time_s, 0))
    yield b"data %d\n%b\n" % (len(message), message)
    for path in sorted(before.keys() - after.keys()):
        if before[path].kind != "folder" and path not in refused:
            yield b"D %b\n" % _quoted(path)
    for path, entry in after.items():
        if entry.kind == "folder" or before.get(path) == entry:
            continue
        if any(part.lower() == b".git" for part in path.split(b"/")):
            refused.add(path)
            continue
        yield from _file(blobs, path, entry)


def _file(blobs: BlobReader, path: bytes, entry: SnapshotEntry) -> Iterator[bytes]:
    yield b"M %b inline %b\ndata %d\n" % (_MODES[entry.kind], _quoted(path), blobs.size(entry.id))
    yield from blobs.pieces(entry.id)
    yield b"\n"


def _quoted(path: bytes) -> bytes:
    """Return a path in double quotes with everything unusual as octal escapes."""
    plain = b"".join(bytes([byte]) if 32 < byte < 127 and byte not in b'"\\' else b"\\%03o" % byte for byte in path)
    return b'"' + plain + b'"'
