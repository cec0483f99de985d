"""Fetches a competition's data from Kaggle through its official client: resumed, checked, unpacked once."""

from __future__ import annotations

import base64
import hashlib
import logging
import shutil
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.data.fetch.kaggle_client import authenticated_client, open_connection, refused_credentials
from podium.data.formats.archives import extract
from podium.errors import DownloadError, MissingExtraError, RawDataError
from podium.safefs.remove_tree import remove_tree
from podium.text import format_size

if TYPE_CHECKING:
    from requests import HTTPError, Response

logger = logging.getLogger(__name__)

ROOM = 2.5
"""Free space wanted, as a multiple of the archive: the archive itself, and what it unpacks to."""
OTHERWISE = "Data you have already goes in with --raw DIR; --miniature needs none."


def download(competition: str, raw: Path) -> None:
    """Puts the files of a competition into `raw`, in place of what is there.

    The archive lies beside it meanwhile; a download or an unpacking that was cut off goes on where it stopped.
    """
    whole = whole_archive(competition, raw)
    if not whole.exists():
        arriving = raw.with_name(f"{competition}.zip")
        _download(competition, arriving)
        arriving.rename(whole)
    _unpack(whole, raw)


def whole_archive(competition: str, raw: Path) -> Path:
    """Where an archive lies that has arrived and is not unpacked yet."""
    return raw.with_name(f"{competition}.whole.zip")


def _download(competition: str, archive: Path) -> None:
    try:
        import requests
    except ImportError as error:
        raise MissingExtraError("Downloading from Kaggle", "kaggle") from error
    with redirect_stdout(sys.stderr):  # Kaggle's client prints notices; standard output is for our results
        client = authenticated_client(OTHERWISE)
        try:
            _fetch(client, competition, archive)
        except requests.HTTPError as error:
            raise DownloadError(_explain(error, competition)) from error
        except DownloadError:  # which says itself what to do
            raise
        except (requests.RequestException, OSError, ValueError) as error:
            raise DownloadError(
                f"The download of {competition} broke off: {error} Run the command again to resume."
            ) from error


def _fetch(client: Any, competition: str, archive: Path) -> None:
    from kagglesdk.competitions.types.competition_api_service import ApiDownloadDataFilesRequest

    request = ApiDownloadDataFilesRequest()
    request.competition_name = competition
    with open_connection(client) as kaggle:
        response = kaggle.competitions.competition_api_client.download_data_files(request)
        _check_room(response, competition, archive)
        logger.info("Downloading %s (%s bytes)", competition, response.headers.get("Content-Length", "unknown"))
        client.download_file(response, str(archive), kaggle.http_client(), quiet=True, resume=True)
    _check_sum(response, competition, archive)


def _check_room(response: Response, competition: str, archive: Path) -> None:
    size = int(response.headers.get("Content-Length") or 0)
    have = archive.stat().st_size if archive.exists() else 0
    archive.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(archive.parent).free + have
    if size * ROOM > free:
        raise DownloadError(
            f"{competition} needs about {format_size(size * ROOM)} to download and unpack, but {archive.parent} has "
            f"{format_size(free)} free. Make room, or choose another disk with --data-dir."
        )


def _check_sum(response: Response, competition: str, archive: Path) -> None:
    """Compares with the MD5 that the storage behind Kaggle announces, where it does."""
    announced = [part.strip() for part in response.headers.get("x-goog-hash", "").split(",")]
    expected = next((part.removeprefix("md5=") for part in announced if part.startswith("md5=")), None)
    if expected is None:
        logger.warning("Kaggle announces no checksum of %s: whether it arrived unharmed is not known", competition)
        return
    with archive.open("rb") as file:
        found = base64.b64encode(hashlib.file_digest(file, "md5").digest()).decode()
    if found != expected:
        archive.unlink()
        raise DownloadError(
            f"The archive of {competition} arrived damaged (MD5 {found}, announced {expected}) and was deleted. "
            "Run the command again."
        )


def _unpack(archive: Path, raw: Path) -> None:
    making = raw.with_name(f".{raw.name}.making")
    remove_tree(making)
    making.mkdir(parents=True)
    try:
        extract(archive, making)
    except RawDataError:
        archive.unlink()  # or it would be unpacked again and again
        raise
    remove_tree(raw)
    making.rename(raw)
    archive.unlink()


def _explain(error: HTTPError, competition: str) -> str:
    """What Kaggle's refusal means and what to do about it."""
    page = f"https://www.kaggle.com/c/{competition}"
    match error.response.status_code if error.response is not None else None:
        case 401:
            return refused_credentials()
        case 403:
            return (
                f"Kaggle refuses the data of {competition}: its rules are not accepted by this account. Accept them at "
                f"{page}/rules and run the command again. If that page offers no way to join, the competition can no "
                f"longer be joined. {OTHERWISE}"
            )
        case 404:
            return f"Kaggle no longer offers the data of {competition} (see {page}). {OTHERWISE}"
        case status:
            return f"Kaggle answered {status} for {competition}: {error}. Try again later. {OTHERWISE}"
