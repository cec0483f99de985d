"""Downloading through Kaggle's own client from a local server that speaks its protocol."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from pathlib import Path

import pytest
from kaggle_server import CHUNK, Kaggle

import podium
from podium.data.fetch import kaggle_client
from podium.data.fetch.kaggle_download import download
from podium.errors import DownloadError, PodiumError, RawDataError


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


def test_what_has_arrived_is_not_downloaded_again_after_a_kill_while_it_was_unpacked(
    spaceship: Kaggle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(archive: Path, folder: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("podium.data.fetch.kaggle_download.extract", killed)
        download("spaceship-titanic", tmp_path / "raw")
    spaceship.refusal = 500
    download("spaceship-titanic", tmp_path / "raw")
    assert (tmp_path / "raw" / "train.csv").is_file()
    assert not list(tmp_path.glob("*.zip"))


def test_an_archive_that_was_unpacked_before_a_kill_is_removed(spaceship: Kaggle, tmp_path: Path) -> None:
    place = podium.prepare("spaceship-titanic", data_dir=tmp_path / "data").place
    place.manifest.unlink()
    (place.root / "spaceship-titanic.whole.zip").touch()
    podium.prepare("spaceship-titanic", data_dir=tmp_path / "data")
    assert not list(place.root.glob("*.zip"))


def test_damaged_archive_is_downloaded_again(spaceship: Kaggle, tmp_path: Path) -> None:
    whole, spaceship.announced_md5 = spaceship.archive, None
    spaceship.archive = whole[:100]
    with pytest.raises(RawDataError, match="is damaged"):
        download("spaceship-titanic", tmp_path / "raw")
    spaceship.archive = whole
    download("spaceship-titanic", tmp_path / "raw")
    assert (tmp_path / "raw" / "train.csv").is_file()


def test_missing_checksum_is_logged(spaceship: Kaggle, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    spaceship.announced_md5 = None
    download("spaceship-titanic", tmp_path / "raw")
    assert "sent no checksum for spaceship-titanic" in caplog.text


def test_a_silent_connection_is_given_up(spaceship: Kaggle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kaggle_client, "PATIENCE_S", 0.2)
    spaceship.silent_s = 2.0
    with pytest.raises(DownloadError, match=r"was interrupted \(.*timed out"):
        download("spaceship-titanic", tmp_path / "raw")


def test_a_damaged_archive_is_refused_and_deleted(spaceship: Kaggle, tmp_path: Path) -> None:
    spaceship.announced_md5 = base64.b64encode(bytes(16)).decode()
    with pytest.raises(DownloadError, match="was damaged"):
        download("spaceship-titanic", tmp_path / "raw")
    assert not (tmp_path / "raw").exists()
    assert not (tmp_path / "spaceship-titanic.zip").exists()


def test_too_little_room_is_noticed_before_the_download(spaceship: Kaggle, tmp_path: Path) -> None:
    spaceship.announced_size = 1 << 50
    with pytest.raises(DownloadError, match=r"^spaceship-titanic needs about .* GiB are free in .*\. Free some space"):
        download("spaceship-titanic", tmp_path / "raw")


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "Create a new token"),
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
