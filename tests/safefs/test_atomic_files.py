from __future__ import annotations

import hashlib
import logging
import os
import resource
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest

from podium.data.home import home, locate
from podium.data.manifest import checksum_files
from podium.errors import RawDataError
from podium.safefs.atomic_files import (
    find_files,
    link_file,
    link_files,
    link_tree,
    locked,
    sha256_all,
    write_atomically,
)

SHARED_MEMORY = Path("/dev/shm")


def test_a_link_is_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "source").write_text("x", encoding="utf-8")
    (tmp_path / "alias").symlink_to(tmp_path / "source")
    for name in ("source", "alias"):
        link_file(tmp_path / name, tmp_path / "deep" / "down" / name)
        assert (tmp_path / "deep" / "down" / name).stat().st_ino == (tmp_path / "source").stat().st_ino
        assert not (tmp_path / "deep" / "down" / name).is_symlink()


def test_across_file_systems_the_link_is_symbolic(tmp_path: Path) -> None:
    if not SHARED_MEMORY.is_dir() or SHARED_MEMORY.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("needs a second file system")
    (tmp_path / "source").write_text("x", encoding="utf-8")
    target = SHARED_MEMORY / f"podium-test-{os.getpid()}"
    try:
        link_file(tmp_path / "source", target)
        assert target.read_text(encoding="utf-8") == "x"
        assert target.readlink() == tmp_path / "source"
    finally:
        target.unlink()


def test_a_whole_tree_is_linked_even_through_linked_folders(tmp_path: Path) -> None:
    source, elsewhere = tmp_path / "source", tmp_path / "big-disk"
    (source / "empty").mkdir(parents=True)
    (elsewhere / "inner").mkdir(parents=True)
    (elsewhere / "inner" / "1.png").write_bytes(b"1")
    (source / "top.csv").write_bytes(b"2")
    (source / "images").symlink_to(elsewhere)
    link_tree(source, tmp_path / "target")
    found = sorted(str(path.relative_to(tmp_path / "target")) for path in (tmp_path / "target").rglob("*"))
    assert found == ["empty", "images", "images/inner", "images/inner/1.png", "top.csv"]
    assert (tmp_path / "target" / "images" / "inner" / "1.png").samefile(elsewhere / "inner" / "1.png")


def test_files_are_sorted_and_must_exist(tmp_path: Path) -> None:
    for name in ("b/1.png", "a/2.png", "a/1.png", "a/1.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = find_files(tmp_path, "*/*.png")
    assert [str(path.relative_to(tmp_path)) for path in found] == ["a/1.png", "a/2.png", "b/1.png"]
    with pytest.raises(RawDataError, match=r"lacks \*\.jpg"):
        find_files(tmp_path, "*.jpg")


def test_missing_raw_file_is_named(tmp_path: Path) -> None:
    message = rf"The raw data lacks images: there is no {tmp_path}/images\."
    with pytest.raises(RawDataError, match=message):
        link_tree(tmp_path / "images", tmp_path / "target")
    with pytest.raises(RawDataError, match=message):
        link_files(tmp_path, tmp_path / "target", ["images"])
    assert not list((tmp_path / "target").glob("*"))


def test_file_is_written_completely_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "new" / "manifest.json"
    write_atomically(path, "é\n" * 1000)
    assert path.read_text(encoding="utf-8") == "é\n" * 1000
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_atomically(path, "x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "\ud800")
    assert path.read_text(encoding="utf-8") == "é\n" * 1000
    assert list(path.parent.iterdir()) == [path]


def test_waiting_for_a_lock_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "podium")

    def wait() -> None:
        with locked(tmp_path / ".lock"):
            pass

    waiting = threading.Thread(target=wait)
    with locked(tmp_path / ".lock"):
        assert not caplog.text
        waiting.start()
        deadline = time.monotonic() + 60
        while not caplog.text and time.monotonic() < deadline:
            time.sleep(0.01)
    waiting.join()
    assert f"Waiting for another process to release {tmp_path / '.lock'}" in caplog.text


def test_a_lock_dies_with_its_holder(tmp_path: Path) -> None:
    code = "import sys, os, signal; from pathlib import Path; from podium.safefs.atomic_files import locked\n"
    code += "with locked(Path(sys.argv[1])): os.kill(os.getpid(), signal.SIGKILL)"
    killed = subprocess.run([sys.executable, "-c", code, tmp_path / "deep" / ".lock"], check=False)
    assert killed.returncode < 0
    with locked(tmp_path / "deep" / ".lock"):
        pass


def test_many_files_are_hashed_in_order(tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number in range(100)]
    for path in paths:
        path.write_text(path.name, encoding="utf-8")
    assert sha256_all(paths) == [hashlib.sha256(path.name.encode()).hexdigest() for path in paths]
    assert sha256_all([]) == []


def test_archives_of_the_same_content_have_the_same_checksum(tmp_path: Path) -> None:
    contents = []
    for name, compression, year in (("a", zipfile.ZIP_STORED, 1999), ("b", zipfile.ZIP_DEFLATED, 2020)):
        (tmp_path / name / "public").mkdir(parents=True)
        with zipfile.ZipFile(tmp_path / name / "public" / "images.zip", "w", compression) as archive:
            for member in ("1.png", "2.png") if name == "a" else ("2.png", "1.png"):
                archive.writestr(zipfile.ZipInfo(member, (year, 1, 1, 0, 0, 0)), member * 100)
        contents.append(checksum_files(tmp_path / name)["public/images.zip"])
    assert contents[0]["sha256"] != contents[1]["sha256"]
    assert contents[0]["content"] == contents[1]["content"]


def test_invalid_zip_is_a_plain_file(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "x.zip").write_bytes(b"no archive")
    assert checksum_files(tmp_path)["private/x.zip"].keys() == {"bytes", "sha256"}


def test_home_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PODIUM_HOME", "~/podium")
    assert home() == tmp_path / "podium"
    assert locate("toy").root == tmp_path / "podium" / "data" / "toy"
    monkeypatch.delenv("PODIUM_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert home() == tmp_path / "cache" / "podium"
