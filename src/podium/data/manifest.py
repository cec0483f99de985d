"""The manifest of prepared data: what was made from what, with checksums."""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from podium.data.home import Place
from podium.errors import PodiumError
from podium.safefs.atomic_files import sha256, sha256_all, write_atomically


@dataclass(frozen=True)
class Manifest:
    """What `manifest.json` says."""

    task: str
    edition: str
    miniature: bool
    source: str
    """Where the raw data came from: `generated`, `fabricated`, `download` or a folder's path."""
    versions: dict[str, str]
    files: dict[str, dict[str, Any]]
    """By path below the task's folder: `bytes`, `sha256` and, where bytes depend on the writer, `content`."""


def read_manifest(place: Place) -> Manifest | None:
    """The manifest of a place, or None when nothing has been prepared there."""
    try:
        return Manifest(**json.loads(place.manifest.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise PodiumError(f"{place.manifest} is damaged ({error}). Delete it and prepare the task again.") from error


def write_manifest(place: Place, manifest: Manifest) -> None:
    """Writes the manifest; from then on the task counts as prepared."""
    write_atomically(place.manifest, json.dumps(asdict(manifest), indent=1) + "\n")


def content_sha256(manifest: Manifest) -> str:
    """Says which data this is, wherever it came from and whichever versions of libraries wrote it."""
    lines = [f"{manifest.task} {manifest.edition} {'miniature' if manifest.miniature else 'real'}"]
    lines += [f"{name} {facts.get('content', facts['sha256'])}" for name, facts in sorted(manifest.files.items())]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def altered_files(place: Place, manifest: Manifest) -> list[str]:
    """The files that are not what the manifest says, or that it does not name; all of them are hashed again."""
    found = checksum_files(place.root)
    return sorted(name for name in found.keys() | manifest.files.keys() if found.get(name) != manifest.files.get(name))


def manifest_sha256(place: Place) -> str:
    """The hash of the manifest, which says which data this is."""
    return sha256(place.manifest)


def checksum_files(root: Path) -> dict[str, dict[str, Any]]:
    """Size and checksums of every file in the public and private folders below `root`."""
    paths = sorted(path for part in ("public", "private") for path in (root / part).rglob("*") if path.is_file())
    files = {}
    for path, digest in zip(paths, sha256_all(paths), strict=True):
        files[str(path.relative_to(root))] = {"bytes": path.stat().st_size, "sha256": digest} | _content(path)
    return files


def is_complete(place: Place, manifest: Manifest) -> bool:
    """Whether every file of the manifest is there in its full size."""
    return all(
        (place.root / name).is_file() and (place.root / name).stat().st_size == facts["bytes"]
        for name, facts in manifest.files.items()
    )


def _content(path: Path) -> dict[str, str]:
    """A checksum of what an archive holds, since its bytes also depend on the compressor and on time stamps."""
    if path.suffix != ".zip" or not zipfile.is_zipfile(path):
        return {}
    digest = hashlib.sha256()
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist()):
            digest.update(name.encode())
            with archive.open(name) as member:
                digest.update(hashlib.file_digest(member, "sha256").digest())  # type: ignore[arg-type]
    return {"content": digest.hexdigest()}
