"""Archives (ZIP, tar, 7z): unpacked on the file system of their destination, so files can be linked, and repacked."""

from __future__ import annotations

import gzip
import io
import lzma
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

from podium.data.scrub_metadata import FILE_MODE, TIME_NS
from podium.errors import MissingExtraError, RawDataError
from podium.safefs.atomic_files import missing_raw_file

Members = Iterable[tuple[str, Path | bytes]]
"""Names of the members of an archive, with the path or the bytes of their content."""
_DAMAGE = (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, EOFError)


@contextmanager
def unpacked(archive: Path, near: Path) -> Iterator[Path]:
    """Yield a temporary folder with the content of a .zip, .7z or .tar(.gz), deleted after the block.

    It is on the file system of `near`, so that files can be hard-linked there. If the archive is already unpacked to
    a folder of its name, that folder is used instead.
    """
    already = archive.with_name(archive.name.split(".")[0])
    if not archive.exists() and already.is_dir():
        yield already.parent
        return
    with tempfile.TemporaryDirectory(dir=near.parent, prefix=".unpacked-") as folder:
        extract(archive, Path(folder))
        yield Path(folder)


@contextmanager
def opened_member(path: Path) -> Iterator[IO[bytes]]:
    """Yield the bytes of a file, or of the only file inside it if it is a .zip or .7z."""
    if path.suffix not in {".zip", ".7z"}:
        with path.open("rb") as file:
            yield file
        return
    with tempfile.TemporaryDirectory() as folder:
        extract(path, Path(folder))
        member = next((found for found in sorted(Path(folder).rglob("*")) if found.is_file()), None)
        if member is None:
            raise RawDataError(f"{path} is damaged (it contains no file). Download it again.")
        with member.open("rb") as file:
            yield file


def extract(archive: Path, folder: Path) -> None:
    """Unpack an archive; members cannot leave the folder."""
    try:
        if archive.name.endswith(".7z"):
            _extract_7z(archive, folder)
        elif ".tar" in archive.name:
            with tarfile.open(archive) as tar:
                extract_tar(tar, folder)
        else:
            with zipfile.ZipFile(archive) as zipped:
                zipped.extractall(folder)
    except FileNotFoundError as error:
        raise missing_raw_file(archive) from error
    except _DAMAGE as error:
        reason = next(iter(str(error).splitlines()), "it ends too early").rstrip(":")
        raise RawDataError(f"{archive} is damaged ({reason}). Download it again.") from error
    except RuntimeError as error:  # zipfile and _extract_7z: an unknown method (NotImplementedError) or a password
        kind, reason = archive.suffix.removeprefix("."), str(error).rstrip(".")
        advice = f"Unpack it with another program and repack its files as a plain {kind}."
        raise RawDataError(f"{archive} uses unsupported compression or encryption ({reason}). {advice}") from error


def extract_tar(tar: tarfile.TarFile, folder: Path) -> None:
    """Unpack a tar; members cannot leave the folder.

    Raises:
        tarfile.TarError: A member would leave the folder.
    """
    if hasattr(tarfile, "data_filter"):
        tar.extractall(folder, filter="data")
    else:  # before Python 3.11.4
        tar.extractall(folder, members=map(_plain_member, tar))


def _plain_member(member: tarfile.TarInfo) -> tarfile.TarInfo:
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts or not (member.isreg() or member.isdir()):
        raise tarfile.ReadError(f"{member.name!r} would leave the folder, or is neither a file nor a folder")
    return member


def _extract_7z(archive: Path, folder: Path) -> None:
    library = _seven_zip()
    try:
        with library.SevenZipFile(archive) as packed:
            packed.extractall(folder)
    except (library.exceptions.UnsupportedCompressionMethodError, library.exceptions.PasswordRequired) as error:
        raise NotImplementedError(str(error.args[-1])) from error
    except library.exceptions.ArchiveError as error:
        raise lzma.LZMAError(str(error)) from error


def members_of(archive: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files in a ZIP given as bytes, one at a time."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        yield from ((name, opened.read(name)) for name in opened.namelist())


def zipped(members: Members) -> bytes:
    """Return the bytes of a ZIP with these files."""
    buffer = io.BytesIO()
    write_zip(buffer, members)
    return buffer.getvalue()


def write_zip(path: Path | IO[bytes], members: Members) -> None:
    """Pack files into an uncompressed ZIP; most contain images or sound that are compressed already.

    Members keep the given order; all have the same date and mode, regardless of the files' own.
    """
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members:
            facts = zipfile.ZipInfo(name)
            facts.external_attr = FILE_MODE << 16
            if isinstance(content, Path):
                facts.file_size = content.stat().st_size  # beyond 4 GiB the header has another format
                with content.open("rb") as file, archive.open(facts, "w") as member:
                    shutil.copyfileobj(file, member, 1 << 20)
            else:
                archive.writestr(facts, content)


def write_tar(path: Path, members: Members, *, compressed: bool = False) -> None:
    """Pack files into a tar, like `write_zip`; only `compressed`, not its name, decides on compression."""
    with (
        gzip.GzipFile(path, "wb", compresslevel=1, mtime=0) if compressed else path.open("wb") as target,
        tarfile.open(fileobj=target, mode="w") as archive,
    ):
        for name, content in members:
            facts = tarfile.TarInfo(name)
            facts.size = content.stat().st_size if isinstance(content, Path) else len(content)
            facts.mtime = TIME_NS // 10**9
            with content.open("rb") if isinstance(content, Path) else io.BytesIO(content) as file:
                archive.addfile(facts, file)


def write_7z(path: Path, members: Members) -> None:
    """Pack files into a 7z."""
    with _seven_zip().SevenZipFile(path, "w") as archive:
        for name, content in members:
            archive.writestr(content.read_bytes() if isinstance(content, Path) else content, name)


def _seven_zip() -> Any:
    try:
        import py7zr
    except ImportError as error:
        raise MissingExtraError("A .7z archive", "kaggle") from error
    return py7zr
