"""Bundle: a signed archive with everything needed to check an experiment.

It is a zip archive whose first member, `bundle.json`, is signed and lists every other file with its size and hash. The
digest of that statement identifies the bundle, independent of compression. Bundles are hostile input: only file names
of an experiment are accepted, there are no links, and all sizes are bounded.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from podium.board.keys import Key, Signed, canonical, parse_canonical
from podium.board.ledger.statements import Hash, Words, first_problem
from podium.board.provenance import machine_facts, podium_sha256
from podium.errors import BoardError, RecordError
from podium.runs.experiment import FILE as EXPERIMENT
from podium.runs.experiment import Experiment
from podium.runs.versions import versions
from podium.safefs.open_nofollow import open_regular

MANIFEST = "bundle.json"
MANIFEST_BYTES = 64 << 20
BUNDLE_BYTES = 64 << 30
"""Maximum total size of a bundle's unpacked files."""
MAX_FILES = 500_000
_CHUNK = 1 << 20
_ENTRY = b"PK\1\2"
"""Signature of an entry in a zip archive's central directory."""
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
"""Allowed compression methods. Others, such as the one Inspect adds to zipfile, need unbounded memory."""
_HISTORY = r"history/(segments/[0-9]{8}-[0-9a-f]{16}\.seg|head)"
_IN_RUN = rf"(run\.json|steps\.jsonl|curve\.json|submission\.csv|submission/.+|logs/[\w.:+-]+\.eval|{_HISTORY})"
_NAME = re.compile(rf"experiment\.json|[\w@-][\w.@-]{{0,199}}/[0-9]{{1,5}}/{_IN_RUN}")
_STORED = (".seg", ".eval")
"""Suffixes of files that are compressed already."""


class FileFacts(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    bytes: Annotated[int, Field(ge=0, le=BUNDLE_BYTES)]
    sha256: Hash


class Disclosures(BaseModel):
    """Claims of a publisher that cannot be verified."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    by: Words = ""
    """Name of the publisher."""
    licence: Words = ""
    """Licence of the bundle."""
    notes: Words = ""
    answers: dict[Annotated[str, Field(max_length=100)], Words] = {}
    """Disclosures that the board's rules require, by name: retrieval, training on the tasks, closed source."""


class BundleManifest(BaseModel):
    """Signed table of contents of a bundle."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: Literal["bundle"] = "bundle"
    format: Literal[1] = 1
    name: Words
    """Name of the experiment."""
    light: bool
    """True if the bundle omits snapshots."""
    registration: Hash | None
    """Id of the experiment's registration."""
    podium: Words
    podium_sha256: Hash
    machine: dict[str, Words]
    """Machine on which the bundle was made."""
    disclosures: Disclosures
    files: Annotated[dict[str, FileFacts], Field(max_length=MAX_FILES)]


@dataclass(frozen=True)
class Bundle:
    """Bundle with verified signature and table of contents."""

    path: Path
    signed: Signed
    manifest: BundleManifest

    @property
    def digest(self) -> str:
        return self.signed.digest

    @property
    def publisher(self) -> str:
        """Public key that signed the bundle."""
        return self.signed.key

    def unpack(self, folder: Path) -> None:
        """Extract every file into an empty folder.

        Raises:
            BoardError: A file differs from the manifest.
        """
        with _opened(self.path) as archive:
            for name, facts in self.manifest.files.items():
                target = folder / name
                with _unpacking(name):
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with archive.open(name) as source, target.open("xb") as file:
                        _copy(source, file, name, facts)


def write_bundle(
    experiment: Experiment,
    target: Path,
    key: Key,
    *,
    disclosures: Disclosures,
    registration: str | None = None,
    light: bool = False,
    logs: bool = False,
) -> Bundle:
    """Write an experiment as a bundle, atomically and deterministically.

    Args:
        registration: Id of the experiment's registration.
        light: Omit the snapshots; include submissions and hashes only.
        logs: Include the transcripts of models.

    Raises:
        RecordError: A file cannot be read or has changed meanwhile.
    """
    names = sorted(_files(experiment, light=light, logs=logs))
    manifest = BundleManifest(
        name=experiment.folder.absolute().name,
        light=light,
        registration=registration,
        podium=versions()["podium"],
        podium_sha256=podium_sha256(),
        machine=machine_facts(),
        disclosures=disclosures,
        files={name: _facts(experiment.folder, name) for name in names},
    )
    signed = key.sign(manifest.model_dump(mode="json"))
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}", delete=False) as file:
        try:
            _write(file, experiment.folder, signed, manifest)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).replace(target)
        except BaseException:
            Path(file.name).unlink()
            raise
    target.chmod(0o644)
    return Bundle(target, signed, manifest)


def read_bundle(path: Path) -> Bundle:
    """Read the signature and manifest of an untrusted bundle without unpacking it.

    Raises:
        BoardError: It is not a bundle, its signature is wrong, or it contains unexpected files.
    """
    with _opened(path) as archive:
        members = archive.infolist()
        if len(members) > MAX_FILES + 1 or not members or members[0].filename != MANIFEST:
            raise BoardError(f"{path} is not a bundle: it does not begin with {MANIFEST}.")
        if packed := {member.compress_type for member in members} - _METHODS:
            raise BoardError(f"{path} is not a bundle: it uses compression method {min(packed)} instead of deflate.")
        if members[0].file_size > MANIFEST_BYTES:
            raise BoardError(f"{path} is not a bundle: its {MANIFEST} is too large.")
        buffer = io.BytesIO()
        with _unpacking(MANIFEST), archive.open(members[0]) as source:
            _copy_bounded(source, buffer, members[0].file_size, MANIFEST)
        signed = Signed.from_dict(parse_canonical(buffer.getvalue()))
        try:
            manifest = BundleManifest.model_validate(signed.statement)
        except (ValidationError, RecursionError) as error:
            raise BoardError(f"{path} is not a bundle: {first_problem(error)}") from error
        _check_members(members[1:], manifest)
    return Bundle(path, signed, manifest)


def _check_members(members: list[zipfile.ZipInfo], manifest: BundleManifest) -> None:
    sizes = {member.filename: member.file_size for member in members}
    stated = {name: facts.bytes for name, facts in manifest.files.items()}
    if len(sizes) != len(members) or sizes != stated:
        odd = sorted(sizes.keys() ^ stated.keys()) or ["sizes"]
        raise BoardError(f"The files of the bundle differ from its signed manifest: {odd[0][:200]!r}.")
    if sum(stated.values()) > BUNDLE_BYTES:
        raise BoardError(f"The bundle is larger than {BUNDLE_BYTES >> 30} GiB.")
    for name in stated:
        if not is_publishable(name):
            raise BoardError(f"Unexpected file in the bundle: {name[:200]!r}.")
    folders = {"/".join(parts[:end]) for parts in map(_parts, stated) for end in range(1, len(parts))}
    if both := folders & stated.keys():
        raise BoardError(f"The bundle contains a file that is also a folder: {min(both)[:200]!r}.")
    if EXPERIMENT not in stated:
        raise BoardError(f"The bundle contains no {EXPERIMENT}.")


def _parts(name: str) -> list[str]:
    return name.split("/")


def _files(experiment: Experiment, *, light: bool, logs: bool) -> Iterator[str]:
    """Yield the names of the files that are published."""
    yield EXPERIMENT
    for run in experiment.runs():
        run.check()
        parts = [run.record, run.journal, run.curve, run.submission]
        parts += [path for path in _below(run.files) if not path.is_dir()]
        parts += [] if light else _below(run.history)
        parts += _below(run.logs) if logs else []
        for path in parts:
            name = path.relative_to(experiment.folder).as_posix()
            if os.path.lexists(path) and is_publishable(name):
                yield name


def is_publishable(name: str) -> bool:
    """Return whether a bundle may contain a file name; submissions may contain odd names, which are omitted."""
    parts = name.split("/")
    harmless = name.isprintable() and "\\" not in name and not {"", ".", ".."} & set(parts)
    return harmless and _NAME.fullmatch(name) is not None and all(len(part.encode()) <= 255 for part in parts)


def _below(folder: Path) -> list[Path]:
    """Return the files below a folder, without following links."""
    return [Path(above, name) for above, _, names in os.walk(folder) for name in names]


def _facts(folder: Path, name: str) -> FileFacts:
    with _reading(folder, name) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
        return FileFacts(bytes=file.tell(), sha256=digest)


def _reading(folder: Path, name: str) -> IO[bytes]:
    try:
        return os.fdopen(open_regular(folder / name, top=folder), "rb")
    except OSError as error:
        raise RecordError(f"{folder / name} cannot be published: {error.strerror}.") from error


def _write(file: IO[bytes], folder: Path, signed: Signed, manifest: BundleManifest) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(_info(MANIFEST), canonical(signed.to_dict()))
        for name, facts in manifest.files.items():
            large = facts.bytes > 1 << 30
            with _reading(folder, name) as source, archive.open(_info(name), "w", force_zip64=large) as target:
                _copy(source, target, name, facts)


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)  # fixed date of 1980: the same content gives the same bytes
    info.create_system, info.external_attr = 3, 0o644 << 16
    info.compress_type = zipfile.ZIP_STORED if name.endswith(_STORED) else zipfile.ZIP_DEFLATED
    return info


def _copy(source: IO[bytes], target: IO[bytes], name: str, facts: FileFacts) -> None:
    if _copy_bounded(source, target, facts.bytes, name) != facts.sha256:
        raise BoardError(f"{name} differs in content from the signed file.")


def _copy_bounded(source: IO[bytes], target: IO[bytes], size: int, name: str) -> str:
    """Copy exactly `size` bytes and return their hash."""
    digest, left = hashlib.sha256(), size
    while left >= 0 and (chunk := source.read(min(_CHUNK, left + 1))):
        left -= len(chunk)
        digest.update(chunk)
        target.write(chunk)
    if left:
        raise BoardError(f"{name} differs in size from the signed file.")
    return digest.hexdigest()


@contextlib.contextmanager
def _unpacking(name: str) -> Iterator[None]:
    """Convert the exceptions that a broken or hostile archive causes to one error."""
    try:
        yield
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, OSError, zlib.error) as error:
        raise BoardError(f"{name} cannot be unpacked: {error}.") from error


class _Bounded(io.BufferedReader):
    """Untrusted archive with a bounded central directory, which `zipfile` reads into memory at once."""

    def read(self, size: int | None = -1) -> bytes:
        if (size or 0) > MANIFEST_BYTES:  # the signed manifest lists the same files and is longer
            raise BoardError("its table of contents is too large.")
        data = super().read(size)
        if data.count(_ENTRY) > MAX_FILES + 1:
            raise BoardError(f"it contains more than {MAX_FILES:,} files.")
        return data


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    with contextlib.ExitStack() as opened:
        try:
            file = opened.enter_context(_Bounded(io.FileIO(path)))
            archive = opened.enter_context(zipfile.ZipFile(file))
        except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise BoardError(f"{path} is not a bundle: {error}") from error
        yield archive
