"""Downloading through Kaggle's own client from a local server that speaks its protocol."""

from __future__ import annotations

import base64
import fcntl
import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import podium
from podium.data.download import download
from podium.errors import DownloadError, PodiumError

PORT = 7777
"""Where Kaggle's client looks when KAGGLE_API_ENVIRONMENT is TEST."""
CHUNK = 1 << 20
"""How much the client writes at a time."""
SERVICE = "/api/v1/competitions.CompetitionApiService/DownloadDataFiles"


class Kaggle(ThreadingHTTPServer):
    """A stand-in for kaggle.com: one archive, and whatever refusal a test wants."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("localhost", PORT), Handler)
        self.archive = b""
        self.refusal: int | None = None
        self.announced_md5: str | None = None
        self.announced_size: int | None = None
        self.break_after: list[int] = []
        """Bytes after which each of the next answers is cut off."""
        self.ranges: list[str] = []


class Handler(BaseHTTPRequestHandler):
    server: Kaggle

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        assert self.path == SERVICE
        if self.server.refusal:
            body = json.dumps({"code": self.server.refusal, "message": "no"}).encode()
            self.send_response(self.server.refusal)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        self.send_response(302)
        self.send_header("Location", f"http://localhost:{PORT}/archive.zip")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        archive = self.server.archive
        wanted = self.headers.get("Range")
        self.server.ranges.append(wanted or "all")
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        self.send_response(206 if wanted else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", '"one"')
        self.send_header("Content-Type", "application/zip")
        self.send_header("Content-Length", str(self.server.announced_size or len(archive) - start))
        if self.server.announced_md5:
            self.send_header("x-goog-hash", f"crc32c=AAAAAA==,md5={self.server.announced_md5}")
        self.end_headers()
        stop = start + self.server.break_after.pop(0) if self.server.break_after else len(archive)
        self.wfile.write(archive[start:stop])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def kaggle(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> Iterator[Kaggle]:
    """The server, with credentials for it; tests in other processes wait, since the port is fixed."""
    monkeypatch.setenv("KAGGLE_API_ENVIRONMENT", "TEST")
    monkeypatch.setenv("KAGGLE_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KAGGLE_USERNAME", "someone")
    monkeypatch.setenv("KAGGLE_KEY", "secret")
    lock = tmp_path_factory.getbasetemp().parent / "kaggle-port.lock"
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        server = Kaggle()
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def spaceship(kaggle: Kaggle, tmp_path: Path) -> Kaggle:
    """A server that offers the miniature of one competition."""
    raw = podium.prepare("spaceship-titanic", data_dir=tmp_path / "source", miniature=True).place.raw
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.write(raw / "train.csv", "train.csv")
        archive.writestr("notes.bin", bytes(3 * CHUNK))
    kaggle.archive = buffer.getvalue()
    kaggle.announced_md5 = base64.b64encode(hashlib.md5(kaggle.archive).digest()).decode()
    return kaggle


def test_a_download_is_prepared_like_any_raw_data(spaceship: Kaggle, tmp_path: Path) -> None:
    done = podium.prepare("spaceship-titanic", data_dir=tmp_path / "data")
    assert not done.miniature
    assert (done.place.raw / "train.csv").is_file()
    assert not list(done.place.root.glob("*.zip"))
    assert podium.validate("spaceship-titanic", done.place.public / "sample_submission.csv", tmp_path / "data").valid


def test_real_data_is_downloaded_where_a_miniature_was_prepared(spaceship: Kaggle, tmp_path: Path) -> None:
    podium.prepare("spaceship-titanic", data_dir=tmp_path / "data", miniature=True)
    assert podium.prepare("spaceship-titanic", data_dir=tmp_path / "data").status == "made"
    assert podium.prepare("spaceship-titanic", data_dir=tmp_path / "data").status == "kept"


def test_a_broken_download_resumes_where_it_stopped(spaceship: Kaggle, tmp_path: Path) -> None:
    spaceship.break_after = [2 * CHUNK + 5]
    download("spaceship-titanic", tmp_path / "raw")
    assert spaceship.ranges == ["all", f"bytes={2 * CHUNK}-"]
    assert (tmp_path / "raw" / "train.csv").is_file()


def test_a_damaged_archive_is_refused_and_deleted(spaceship: Kaggle, tmp_path: Path) -> None:
    spaceship.announced_md5 = base64.b64encode(bytes(16)).decode()
    with pytest.raises(DownloadError, match="arrived damaged"):
        download("spaceship-titanic", tmp_path / "raw")
    assert not (tmp_path / "raw").exists()
    assert not (tmp_path / "spaceship-titanic.zip").exists()


def test_too_little_room_is_noticed_before_the_download(spaceship: Kaggle, tmp_path: Path) -> None:
    spaceship.announced_size = 1 << 50
    with pytest.raises(DownloadError, match="GiB free"):
        download("spaceship-titanic", tmp_path / "raw")


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "Make a new token"),
        (403, "Accept them at https://www.kaggle.com/c/spaceship-titanic/rules"),
        (404, "no longer offers the data"),
    ],
)
def test_a_refusal_is_explained(kaggle: Kaggle, tmp_path: Path, status: int, advice: str) -> None:
    kaggle.refusal = status
    with pytest.raises(DownloadError, match=advice):
        download("spaceship-titanic", tmp_path / "raw")


def test_missing_credentials_are_explained(
    kaggle: Kaggle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("KAGGLE_USERNAME")
    monkeypatch.delenv("KAGGLE_KEY")
    with pytest.raises(PodiumError, match=r"kaggle.com/settings.*--miniature"):
        podium.prepare("spaceship-titanic", data_dir=tmp_path / "data")
