"""Manifest of prepared data: source, library versions and checksums."""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from podium.data.home import DataFolder
from podium.errors import PodiumError
from podium.safefs.atomic_files import sha256, sha256_all, write_atomically


@dataclass(frozen=True)
class Manifest:
    """Content of `manifest.json`."""

    task: str
    edition: str
    miniature: bool
    source: str
    """Source of the raw data: `generated`, `fabricated`, `download` or a folder's path."""
    versions: dict[str, str]
    files: dict[str, dict[str, Any]]
    """`bytes`, `sha256` and, for archives, `content` of each file, by path below the task's folder."""


def read_manifest(place: DataFolder) -> Manifest | None:
    """Return the manifest of a task's data, or None if the data is not prepared."""
    try:
        return Manifest(**json.loads(place.manifest.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise PodiumError(f"{place.manifest} is damaged ({error}). Delete it and prepare the task again.") from error


def write_manifest(place: DataFolder, manifest: Manifest) -> None:
    """Write the manifest; from then on the task counts as prepared."""
    write_atomically(place.manifest, json.dumps(asdict(manifest), indent=1) + "\n")


def content_sha256(manifest: Manifest) -> str:
    """Return a hash that identifies the data regardless of its source and of the library versions that wrote it."""
    lines = [f"{manifest.task} {manifest.edition} {'miniature' if manifest.miniature else 'real'}"]
    lines += [f"{name} {facts.get('content', facts['sha256'])}" for name, facts in sorted(manifest.files.items())]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def altered_files(place: DataFolder, manifest: Manifest) -> list[str]:
    """Return the files that differ from the manifest or that it does not list; hashes all files again."""
    found = checksum_files(place.root)
    return sorted(name for name in found.keys() | manifest.files.keys() if found.get(name) != manifest.files.get(name))


def manifest_sha256(place: DataFolder) -> str:
    """Return the hash of the manifest file."""
    return sha256(place.manifest)


def checksum_files(root: Path) -> dict[str, dict[str, Any]]:
    """Return size and checksums of every file in the public and private folders below `root`."""
    paths = sorted(path for part in ("public", "private") for path in (root / part).rglob("*") if path.is_file())
    files = {}
    for path, digest in zip(paths, sha256_all(paths), strict=True):
        files[str(path.relative_to(root))] = {"bytes": path.stat().st_size, "sha256": digest} | _content(path)
    return files


def is_complete(place: DataFolder, manifest: Manifest) -> bool:
    """Return whether every file of the manifest exists with its full size."""
    return all(
        (place.root / name).is_file() and (place.root / name).stat().st_size == facts["bytes"]
        for name, facts in manifest.files.items()
    )


def _content(path: Path) -> dict[str, str]:
    """Return a checksum of an archive's members, since its bytes also depend on the compressor and on time stamps."""
    if path.suffix != ".zip" or not zipfile.is_zipfile(path):
        return {}
    digest = hashlib.sha256()
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist()):
            digest.update(name.encode())
            with archive.open(name) as member:
                digest.update(hashlib.file_digest(member, "sha256").digest())  # type: ignore[arg-type]
    return {"content": digest.hexdigest()}
