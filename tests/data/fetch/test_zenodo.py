"""Fetching from a local server that answers as Zenodo does."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from podium.data.fetch.zenodo import zenodo_file
from podium.errors import DownloadError

RECORD, NAME, CONTENT = 17, "labels.zip", b"released labels"


class Zenodo(BaseHTTPRequestHandler):
    checksum = f"md5:{hashlib.md5(CONTENT).hexdigest()}"

    def do_GET(self) -> None:
        files = [{"key": "other.zip", "checksum": "md5:0"}, {"key": NAME, "checksum": self.checksum}]
        known = {
            f"/api/records/{RECORD}": json.dumps({"files": files}).encode(),
            f"/api/records/{RECORD}/files/{NAME}/content": CONTENT,
        }
        self.send_response(200 if self.path in known else 404)
        self.end_headers()
        self.wfile.write(known.get(self.path, b""))

    def log_message(self, *_: object) -> None:
        pass


class Damaged(Zenodo):
    checksum = "md5:0123"


class BreaksOff(Zenodo):
    def end_headers(self) -> None:
        self.send_header("Content-Length", "1000")
        super().end_headers()


@pytest.fixture(params=[Zenodo])
def site(request: pytest.FixtureRequest) -> Iterator[str]:
    with ThreadingHTTPServer(("localhost", 0), request.param) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    (tmp_path / "raw").mkdir()
    return tmp_path / "raw"


def test_a_file_is_fetched_for_the_block_only(site: str, raw: Path, tmp_path: Path) -> None:
    with zenodo_file(RECORD, NAME, raw, tmp_path / "public", site=site) as path:
        assert path.name == NAME
        assert path.read_bytes() == CONTENT
    assert not path.exists()
    assert list(tmp_path.rglob("*")) == [raw]


def test_a_file_in_the_raw_folder_is_taken_as_it_is(raw: Path, tmp_path: Path) -> None:
    (raw / NAME).write_bytes(b"mine")
    with zenodo_file(RECORD, NAME, raw, tmp_path / "public", site="http://localhost:1") as path:
        assert path.read_bytes() == b"mine"


@pytest.mark.parametrize("site", [Damaged], indirect=True)
def test_a_damaged_file_is_refused(site: str, raw: Path, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="damaged"), zenodo_file(RECORD, NAME, raw, tmp_path / "p", site=site):
        pass


@pytest.mark.parametrize("site", [BreaksOff], indirect=True)
def test_interrupted_response_is_an_error(site: str, raw: Path, tmp_path: Path) -> None:
    with (
        pytest.raises(DownloadError, match="IncompleteRead"),
        zenodo_file(RECORD, NAME, raw, tmp_path / "p", site=site),
    ):
        pass


@pytest.mark.parametrize(("record", "name"), [(RECORD + 1, NAME), (RECORD, "unknown.zip")])
def test_what_is_not_there_is_named(site: str, raw: Path, tmp_path: Path, record: int, name: str) -> None:
    with pytest.raises(DownloadError, match=name), zenodo_file(record, name, raw, tmp_path / "p", site=site):
        pass


def test_offline_message_names_the_target_folder(raw: Path, tmp_path: Path) -> None:
    with (
        pytest.raises(DownloadError, match=f"save it in {raw}"),
        zenodo_file(RECORD, NAME, raw, tmp_path / "p", site="http://localhost:1"),
    ):
        pass
