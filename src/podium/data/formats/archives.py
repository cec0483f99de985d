"""Archives: unpacked beside where their files will go, so that these can be linked, and packed again."""

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

Members = Iterable[tuple[str, Path | bytes]]
"""Names inside the archive, with the file or the bytes that go there."""
_DAMAGE = (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, EOFError)


@contextmanager
def unpacked(archive: Path, near: Path) -> Iterator[Path]:
    """A folder with the content of a .zip, .7z or .tar(.gz), gone after the block.

    It lies on the file system of `near`, so that linking its files there copies nothing. Where someone has unpacked
    the archive already, that folder is used as it is.
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
    """The bytes of a file, or of the only file inside it if it is a .zip or .7z."""
    if path.suffix not in {".zip", ".7z"}:
        with path.open("rb") as file:
            yield file
        return
    with tempfile.TemporaryDirectory() as folder:
        extract(path, Path(folder))
        member = next((found for found in sorted(Path(folder).rglob("*")) if found.is_file()), None)
        if member is None:
            raise RawDataError(f"{path} is damaged (there is no file in it). Download it again.")
        with member.open("rb") as file:
            yield file


def extract(archive: Path, folder: Path) -> None:
    """Unpacks an archive; members cannot leave the folder."""
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
        raise RawDataError(f"The raw data lacks {archive.name}: there is no {archive}.") from error
    except _DAMAGE as error:
        reason = next(iter(str(error).splitlines()), "it ends too early").rstrip(":")
        raise RawDataError(f"{archive} is damaged ({reason}). Download it again.") from error
    except RuntimeError as error:  # zipfile and _extract_7z: an unknown method (NotImplementedError) or a password
        kind, reason = archive.suffix.removeprefix("."), str(error).rstrip(".")
        advice = f"Unpack it with another program and pack its files as a plain {kind} again."
        raise RawDataError(f"{archive} is packed in a way that cannot be read ({reason}). {advice}") from error


def extract_tar(tar: tarfile.TarFile, folder: Path) -> None:
    """Unpacks a tar; members cannot leave the folder.

    Raises:
        tarfile.TarError: one would.
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
    """The files in a ZIP given as bytes: their names and what they hold, one at a time."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        yield from ((name, opened.read(name)) for name in opened.namelist())


def zipped(members: Members) -> bytes:
    """The bytes of a ZIP with these files."""
    buffer = io.BytesIO()
    write_zip(buffer, members)
    return buffer.getvalue()


def write_zip(path: Path | IO[bytes], members: Members) -> None:
    """Packs files into a ZIP without compressing them again; most hold pictures or sound.

    Members follow each other as they are given and have one date and one mode, whatever those of the files are.
    """
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members:
            facts = zipfile.ZipInfo(name)
            facts.external_attr = FILE_MODE << 16
            if isinstance(content, Path):
                facts.file_size = content.stat().st_size  # beyond 4 GiB the header has another form
                with content.open("rb") as file, archive.open(facts, "w") as member:
                    shutil.copyfileobj(file, member, 1 << 20)
            else:
                archive.writestr(facts, content)


def write_tar(path: Path, members: Members, *, compressed: bool = False) -> None:
    """Packs files into a tar as `write_zip` does; it is not compressed unless told so, whatever its name."""
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
    """Packs files into a 7z."""
    with _seven_zip().SevenZipFile(path, "w") as archive:
        for name, content in members:
            archive.writestr(content.read_bytes() if isinstance(content, Path) else content, name)


def _seven_zip() -> Any:
    try:
        import py7zr
    except ImportError as error:
        raise MissingExtraError("A .7z archive", "kaggle") from error
    return py7zr
