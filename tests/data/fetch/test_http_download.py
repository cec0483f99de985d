"""Downloading from a local site that breaks off, refuses and sends damaged files."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from podium.data.fetch import http_download
from podium.data.fetch.http_download import ATTEMPTS, fetch_file, fetch_files
from podium.errors import DownloadError

CONTENT = bytes(range(256)) * 500
SUM = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"


class Site(ThreadingHTTPServer):
    """A site with files, and faults for a test to choose."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("localhost", 0), Handler)
        self.files = {"/data.bin": CONTENT}
        self.breaks: list[int] = []
        """Bytes after which each of the next answers is cut off."""
        self.refusals: list[int] = []
        """What the next answers say instead."""
        self.ranges: list[str | None] = []
        self.takes_ranges = True
        self.announced: int | None = None
        """What it says of the length of its files instead of the truth."""
        self.asked: Counter[str] = Counter()

    @property
    def url(self) -> str:
        return f"http://localhost:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.ranges.append(wanted)
        self.server.asked[self.path] += 1
        content = self.server.files.get(self.path)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.server.takes_ranges else 0
        status = 404 if content is None else 416 if start >= len(content) else 206 if start else 200
        if self.server.refusals:
            status = self.server.refusals.pop(0)
        body = content[start:] if content is not None and status < 300 else b""
        self.send_response(status)
        self.send_header("Content-Length", str(self.server.announced or len(body)))
        self.end_headers()
        self.wfile.write(body[: self.server.breaks.pop(0)] if self.server.breaks else body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "raw" / "data.bin"


def test_a_download_goes_on_where_it_broke_off(site: Site, path: Path) -> None:
    site.breaks = [1000, 70_000]
    fetch_file(f"{site.url}/data.bin", path, checksum=SUM, pause_s=0)
    assert path.read_bytes() == CONTENT
    assert site.ranges == [None, "bytes=1000-", "bytes=71000-"]
    assert list(path.parent.iterdir()) == [path]


def test_it_goes_on_in_another_process_too(site: Site, path: Path) -> None:
    path.parent.mkdir()
    path.with_name("data.bin.part").write_bytes(CONTENT[:5000])
    fetch_file(f"{site.url}/data.bin", path, checksum=SUM, pause_s=0)
    assert site.ranges == ["bytes=5000-"]


def test_what_does_not_fit_on_the_disk_is_refused_before_it_is_written(site: Site, path: Path) -> None:
    site.announced = 1 << 50
    with pytest.raises(DownloadError, match=r"/data\.bin has 1,024 TiB, but only .* are free in .*\. Free some space"):
        fetch_file(f"{site.url}/data.bin", path)
    assert site.asked["/data.bin"] == 1
    assert not path.exists()


def test_a_site_that_cannot_start_in_the_middle_starts_over(site: Site, path: Path) -> None:
    site.takes_ranges, site.breaks = False, [1000]
    fetch_file(f"{site.url}/data.bin", path, checksum=SUM, pause_s=0)
    assert path.read_bytes() == CONTENT


def test_a_part_that_is_too_long_is_thrown_away(site: Site, path: Path) -> None:
    path.parent.mkdir()
    path.with_name("data.bin.part").write_bytes(bytes(len(CONTENT) + 1))
    fetch_file(f"{site.url}/data.bin", path, checksum=SUM, pause_s=0)
    assert path.read_bytes() == CONTENT


def test_existing_files_are_not_requested(site: Site, path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"mine")
    fetch_file(f"{site.url}/data.bin", path, checksum=SUM)
    assert path.read_bytes() == b"mine"
    assert not site.ranges


def test_busy_site_is_retried(site: Site, path: Path) -> None:
    site.refusals = [503, 429]
    fetch_file(f"{site.url}/data.bin", path, pause_s=0)
    assert path.read_bytes() == CONTENT


def test_refusal_is_not_retried(site: Site, path: Path) -> None:
    with pytest.raises(DownloadError, match=r"/nothing could not be downloaded \(HTTP Error 404.*--miniature"):
        fetch_file(f"{site.url}/nothing", path, pause_s=0)
    assert len(site.ranges) == 1


def test_a_damaged_file_is_refused_and_not_kept(site: Site, path: Path) -> None:
    with pytest.raises(DownloadError, match="is damaged"):
        fetch_file(f"{site.url}/data.bin", path, checksum="md5:0123", pause_s=0)
    assert len(site.ranges) == ATTEMPTS
    assert not list(path.parent.iterdir())


def test_offline_message_names_alternatives(path: Path) -> None:
    with pytest.raises(DownloadError, match=r"localhost:1/x.*run the command again.*--raw DIR"):
        fetch_file("http://localhost:1/x", path, pause_s=0)


def test_many_files_come_at_once_and_only_the_missing_ones(site: Site, tmp_path: Path) -> None:
    site.files = {f"/{number}": str(number).encode() for number in range(40)}
    (tmp_path / "0").write_bytes(b"mine")
    fetch_files({str(number): f"{site.url}/{number}" for number in range(40)}, tmp_path)
    assert [(tmp_path / str(number)).read_bytes() for number in (0, 1, 39)] == [b"mine", b"1", b"39"]
    assert site.asked["/0"] == 0


def test_failed_files_are_counted_and_others_kept(site: Site, tmp_path: Path) -> None:
    urls = {"good": f"{site.url}/data.bin", "a": f"{site.url}/a", "b": f"{site.url}/b"}
    with pytest.raises(DownloadError, match=r"2 of 3 files could not be downloaded.*/[ab] could not"):
        fetch_files(urls, tmp_path, pause_s=0)
    assert (tmp_path / "good").exists()


def test_a_site_that_is_gone_is_given_up(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_download, "THREADS", 1)
    with pytest.raises(DownloadError, match="300 of 300"):
        fetch_files({str(number): f"{site.url}/gone/{number}" for number in range(300)}, tmp_path, pause_s=0)
    assert len(site.ranges) == http_download.MAX_FAILURES


def test_a_file_that_does_not_pass_the_check_is_not_kept(site: Site, tmp_path: Path) -> None:
    def refuse(path: Path) -> None:
        raise ValueError(f"{path.stat().st_size} bytes are too many")

    with pytest.raises(DownloadError, match="128000 bytes are too many"):
        fetch_files({"x": f"{site.url}/data.bin"}, tmp_path, check=refuse, pause_s=0)
    assert not list(tmp_path.iterdir())
