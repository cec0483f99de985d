"""A bundle: one signed file with all that a stranger needs to check an experiment.

It is a zip archive whose first member, `bundle.json`, is signed and names every other file with its size and hash. The
digest of that statement is the bundle's identity, so it does not depend on how a library compresses. Reading one is
reading hostile input: only names that an experiment has are accepted, nothing is a link, and all sizes are bounded.
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
"""All files of a bundle together, once they are unpacked."""
MOST_FILES = 500_000
_CHUNK = 1 << 20
_ENTRY = b"PK\1\2"
"""Begins every entry of an archive's table of contents."""
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
"""How bundles are packed. Others, of which Inspect adds one to Python's, unpack without a bound on memory."""
_HISTORY = (
    r"workspace\.git/(objects/(pack/pack-[0-9a-f]{40,64}\.(pack|idx)|[0-9a-f]{2}/[0-9a-f]{38,62})|refs/heads/main)"
)
_IN_RUN = rf"(run\.json|steps\.jsonl|curve\.json|submission\.csv|submission/.+|logs/[\w.:+-]+\.eval|{_HISTORY})"
_NAME = re.compile(rf"experiment\.json|[\w@-][\w.@-]{{0,199}}/[0-9]{{1,5}}/{_IN_RUN}")
_STORED = (".pack", ".idx", ".eval")
"""Compressed already."""


class FileFacts(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    bytes: Annotated[int, Field(ge=0, le=BUNDLE_BYTES)]
    sha256: Hash


class Disclosures(BaseModel):
    """What a publisher states and nobody can check."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    by: Words = ""
    """Who publishes."""
    licence: Words = ""
    """Under which others may use the bundle."""
    notes: Words = ""
    answers: dict[Annotated[str, Field(max_length=100)], Words] = {}
    """What the board's rules ask for: retrieval, training on the tasks, closed source."""


class BundleManifest(BaseModel):
    """What is signed."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: Literal["bundle"] = "bundle"
    format: Literal[1] = 1
    name: Words
    """Of the experiment."""
    light: bool
    """Whether journals come without the snapshots they speak of."""
    registration: Hash | None
    """The id under which the experiment was registered."""
    podium: Words
    podium_sha256: Hash
    machine: dict[str, Words]
    """Where it was published."""
    disclosures: Disclosures
    files: Annotated[dict[str, FileFacts], Field(max_length=MOST_FILES)]


@dataclass(frozen=True)
class Bundle:
    """A bundle whose signature and table of contents were checked."""

    path: Path
    signed: Signed
    manifest: BundleManifest

    @property
    def digest(self) -> str:
        return self.signed.digest

    @property
    def publisher(self) -> str:
        """The key that signed it."""
        return self.signed.key

    def unpack(self, folder: Path) -> None:
        """Writes every file below an empty folder.

        Raises:
            BoardError: a file is not what the manifest says.
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
    """Writes an experiment as a bundle, all of it or nothing; the same experiment gives the same bundle.

    Args:
        registration: the id under which it was registered.
        light: leave out the snapshots: submissions and hashes only.
        logs: add the transcripts of models.

    Raises:
        RecordError: a file cannot be read or has changed meanwhile.
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
    """A bundle of a stranger: who signed it and what it says it holds. Nothing is unpacked yet.

    Raises:
        BoardError: it is not a bundle, its signature is wrong, or it holds what no bundle holds.
    """
    with _opened(path) as archive:
        members = archive.infolist()
        if len(members) > MOST_FILES + 1 or not members or members[0].filename != MANIFEST:
            raise BoardError(f"{path} is not a bundle: it does not begin with {MANIFEST}.")
        if packed := {member.compress_type for member in members} - _METHODS:
            raise BoardError(f"{path} is not a bundle: its files are packed by method {min(packed)}, not by deflate.")
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
        raise BoardError(f"The bundle does not hold what its signed table says: {odd[0][:200]!r}.")
    if sum(stated.values()) > BUNDLE_BYTES:
        raise BoardError(f"The bundle holds more than {BUNDLE_BYTES >> 30} GiB.")
    for name in stated:
        if not is_publishable(name):
            raise BoardError(f"The bundle holds what an experiment does not have: {name[:200]!r}.")
    folders = {"/".join(parts[:end]) for parts in map(_parts, stated) for end in range(1, len(parts))}
    if both := folders & stated.keys():
        raise BoardError(f"The bundle holds a file that is also a folder: {min(both)[:200]!r}.")
    if EXPERIMENT not in stated:
        raise BoardError(f"The bundle holds no {EXPERIMENT}.")


def _parts(name: str) -> list[str]:
    return name.split("/")


def _files(experiment: Experiment, *, light: bool, logs: bool) -> Iterator[str]:
    """The names of the files that are published."""
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
    """Whether a file of that name belongs into a bundle; submissions may hold files with odd names, which do not."""
    parts = name.split("/")
    harmless = name.isprintable() and "\\" not in name and not {"", ".", ".."} & set(parts)
    return harmless and _NAME.fullmatch(name) is not None and all(len(part.encode()) <= 255 for part in parts)


def _below(folder: Path) -> list[Path]:
    """Files below a folder, without following links."""
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
    info = zipfile.ZipInfo(name)  # dated 1980: the same content gives the same bytes
    info.create_system, info.external_attr = 3, 0o644 << 16
    info.compress_type = zipfile.ZIP_STORED if name.endswith(_STORED) else zipfile.ZIP_DEFLATED
    return info


def _copy(source: IO[bytes], target: IO[bytes], name: str, facts: FileFacts) -> None:
    if _copy_bounded(source, target, facts.bytes, name) != facts.sha256:
        raise BoardError(f"{name} is not the file that was signed: its content differs.")


def _copy_bounded(source: IO[bytes], target: IO[bytes], size: int, name: str) -> str:
    """Copies exactly so many bytes and gives their hash."""
    digest, left = hashlib.sha256(), size
    while left >= 0 and (chunk := source.read(min(_CHUNK, left + 1))):
        left -= len(chunk)
        digest.update(chunk)
        target.write(chunk)
    if left:
        raise BoardError(f"{name} is not the file that was signed: its size differs.")
    return digest.hexdigest()


@contextlib.contextmanager
def _unpacking(name: str) -> Iterator[None]:
    """Turns what a broken or hostile archive makes the libraries raise into one error."""
    try:
        yield
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, OSError, zlib.error) as error:
        raise BoardError(f"{name} cannot be unpacked: {error}.") from error


class _Bounded(io.BufferedReader):
    """A stranger's archive, whose table of contents `zipfile` reads at once before anything can be asked of it."""

    def read(self, size: int | None = -1) -> bytes:
        if (size or 0) > MANIFEST_BYTES:  # the signed table names each file too, at greater length
            raise BoardError("its table of contents is too long.")
        data = super().read(size)
        if data.count(_ENTRY) > MOST_FILES + 1:
            raise BoardError(f"it holds more than {MOST_FILES:,} files.")
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
