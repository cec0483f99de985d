from __future__ import annotations

import io
import os
import struct
import tarfile
import zipfile
from pathlib import Path

import py7zr
import pytest

from podium.data.formats.archives import (
    extract,
    members_of,
    opened_member,
    unpacked,
    write_7z,
    write_tar,
    write_zip,
    zipped,
)
from podium.errors import RawDataError

MEMBERS = {"images/1.png": bytes(range(256)) * 80, "train.csv": b"id,y\n1,0\n"}


def write_packed_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in MEMBERS.items():
            archive.writestr(name, content)


def write_packed_tar(path: Path) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in MEMBERS.items():
            facts = tarfile.TarInfo(name)
            facts.size = len(content)
            archive.addfile(facts, io.BytesIO(content))


@pytest.fixture(params=["plain.zip", "packed.zip", "plain.tar", "packed.tar.gz", "packed.7z"])
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / request.param
    match request.param:
        case "plain.zip":
            write_zip(path, MEMBERS.items())
        case "packed.zip":
            write_packed_zip(path)
        case "plain.tar":
            write_tar(path, MEMBERS.items())
        case "packed.tar.gz":
            write_packed_tar(path)
        case "packed.7z":
            write_7z(path, MEMBERS.items())
    return path


def test_what_went_in_comes_out(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    with unpacked(archive, tmp_path / "place" / "public") as folder:
        assert {name: (folder / name).read_bytes() for name in MEMBERS} == MEMBERS
        assert folder.parent == tmp_path / "place"
    assert not list((tmp_path / "place").iterdir())


def test_damaged_archive_is_named(archive: Path, tmp_path: Path) -> None:
    whole = archive.read_bytes()
    flipped = bytearray(whole)
    for place in range(len(whole) // 3, len(whole) // 3 + 20):
        flipped[place] ^= 0x55
    damaged = [whole[: len(whole) // 2], whole[:40], b"", b"<html>Sign in</html>"]
    if archive.suffix != ".tar":  # which has no checksums
        damaged.append(bytes(flipped))
    for content in damaged:
        archive.write_bytes(content)
        with pytest.raises(RawDataError, match=rf"{archive.name} is damaged \(.+\)\. Download it again\."):
            extract(archive, tmp_path / "out")


@pytest.mark.parametrize(("method", "flags"), [(97, 0), (0, 1)])
def test_unsupported_zip_is_explained(tmp_path: Path, method: int, flags: int) -> None:
    path = tmp_path / "x.zip"
    write_zip(path, MEMBERS.items())
    content = bytearray(path.read_bytes())
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = content.find(signature)
        while start >= 0:
            content[start + place : start + place + 4] = struct.pack("<HH", flags, method)
            start = content.find(signature, start + 1)
    path.write_bytes(content)
    with pytest.raises(RawDataError, match=r"x\.zip uses unsupported compression or encryption \(.+\)\. Unpack it"):
        extract(path, tmp_path / "out")


def test_encrypted_7z_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "x.7z"
    with py7zr.SevenZipFile(path, "w", password="secret") as archive:
        archive.writestr(b"id\n", "train.csv")
    with pytest.raises(RawDataError, match=r"x\.7z uses unsupported compression or encryption \(.*[Pp]assword"):
        extract(path, tmp_path / "out")


def test_a_missing_archive_is_named_unless_its_folder_is_there(archive: Path, tmp_path: Path) -> None:
    archive.unlink()
    message = rf"The raw data lacks {archive.name}: there is no {archive}"
    with pytest.raises(RawDataError, match=message), unpacked(archive, tmp_path / "public"):
        pass
    (tmp_path / archive.name.split(".")[0]).mkdir()
    with unpacked(archive, tmp_path / "public") as folder:
        assert folder == tmp_path


def test_members_cannot_leave_the_folder(tmp_path: Path) -> None:
    write_zip(tmp_path / "evil.zip", [("../../evil.txt", b"x"), ("/evil.txt", b"y")])
    write_tar(tmp_path / "evil.tar", [("../../evil.txt", b"x")])
    inside = tmp_path / "deep" / "inside"
    inside.mkdir(parents=True)
    extract(tmp_path / "evil.zip", inside)
    with pytest.raises(RawDataError, match="is damaged"):
        extract(tmp_path / "evil.tar", inside)
    assert {path.relative_to(tmp_path).parts[:2] for path in tmp_path.rglob("evil.txt")} == {("deep", "inside")}


@pytest.mark.parametrize("name", ["sample.csv", "sample.csv.zip", "sample.csv.7z"])
def test_a_table_is_read_packed_or_not(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    match path.suffix:
        case ".zip":
            write_zip(path, [("sample.csv", b"id\n")])
        case ".7z":
            write_7z(path, [("sample.csv", b"id\n")])
        case _:
            path.write_bytes(b"id\n")
    with opened_member(path) as file:
        assert file.read() == b"id\n"


def test_an_archive_without_files_is_damaged(tmp_path: Path) -> None:
    write_zip(tmp_path / "sample.csv.zip", [])
    expected = r"sample\.csv\.zip is damaged \(it contains no file\)\. Download it again\."
    with pytest.raises(RawDataError, match=expected), opened_member(tmp_path / "sample.csv.zip"):
        pass


def test_members_are_read_one_by_one() -> None:
    assert dict(members_of(zipped(MEMBERS.items()))) == MEMBERS


def test_dates_and_modes_of_files_do_not_get_into_archives(tmp_path: Path) -> None:
    packed = []
    for number in range(2):
        for name, content in MEMBERS.items():
            path = tmp_path / f"{number}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(0o600 if number else 0o755)
            os.utime(path, (number * 1e8 + 1e9, number * 1e8 + 1e9))
        members = [(name, tmp_path / f"{number}" / name) for name in MEMBERS]
        write_zip(tmp_path / "x.zip", members)
        write_tar(tmp_path / "x.tar", members)
        write_tar(tmp_path / "x.tar.gz", members, compressed=True)
        packed.append([(tmp_path / f"x.{kind}").read_bytes() for kind in ("zip", "tar", "tar.gz")])
    assert packed[0] == packed[1]


def test_bytes_and_files_are_packed_alike(tmp_path: Path) -> None:
    for name, content in MEMBERS.items():
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    members = [(name, tmp_path / "files" / name) for name in MEMBERS]
    assert dict(members_of(zipped(members))) == MEMBERS
    write_tar(tmp_path / "a.tar", members)
    write_tar(tmp_path / "b.tar", MEMBERS.items())
    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()
