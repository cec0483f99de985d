"""Download of a competition's data with Kaggle's official client: resumed, verified, unpacked once."""

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
"""Free space required for the archive and its unpacked files, as a multiple of the archive's size."""
ALTERNATIVES = "Pass data you already have with --raw DIR, or use fabricated data with --miniature."


def download(competition: str, raw: Path) -> None:
    """Download and unpack the files of a competition into `raw`, replacing its content.

    The archive is kept next to it until then, so that an interrupted download or unpacking can be resumed.
    """
    whole = whole_archive(competition, raw)
    if not whole.exists():
        arriving = raw.with_name(f"{competition}.zip")
        _download(competition, arriving)
        arriving.rename(whole)
    _unpack(whole, raw)


def whole_archive(competition: str, raw: Path) -> Path:
    """Return the path of a complete archive that is not unpacked yet."""
    return raw.with_name(f"{competition}.whole.zip")


def _download(competition: str, archive: Path) -> None:
    try:
        import requests
    except ImportError as error:
        raise MissingExtraError("Downloading from Kaggle", "kaggle") from error
    with redirect_stdout(sys.stderr):  # Kaggle's client prints notices; standard output is for our results
        client = authenticated_client(ALTERNATIVES)
        try:
            _fetch(client, competition, archive)
        except requests.HTTPError as error:
            raise DownloadError(_explain(error, competition)) from error
        except DownloadError:  # has a message of its own
            raise
        except (requests.RequestException, OSError, ValueError) as error:
            raise DownloadError(
                f"The download of {competition} was interrupted ({error}). Run the command again to resume."
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
            f"{competition} needs about {format_size(size * ROOM)} to download and unpack, but only "
            f"{format_size(free)} are free in {archive.parent}. Free some space, or choose another disk with "
            "--data-dir."
        )


def _check_sum(response: Response, competition: str, archive: Path) -> None:
    """Compare the archive with the MD5 checksum in the response headers, if there is one."""
    announced = [part.strip() for part in response.headers.get("x-goog-hash", "").split(",")]
    expected = next((part.removeprefix("md5=") for part in announced if part.startswith("md5=")), None)
    if expected is None:
        logger.warning("Kaggle sent no checksum for %s, so its download was not verified", competition)
        return
    with archive.open("rb") as file:
        found = base64.b64encode(hashlib.file_digest(file, "md5").digest()).decode()
    if found != expected:
        archive.unlink()
        raise DownloadError(
            f"The downloaded archive of {competition} was damaged (MD5 {found}, expected {expected}) and was deleted. "
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
    """Return the message for an error response of Kaggle."""
    page = f"https://www.kaggle.com/c/{competition}"
    match error.response.status_code if error.response is not None else None:
        case 401:
            return refused_credentials()
        case 403:
            return (
                f"Kaggle refuses the data of {competition}: this account has not accepted the rules. Accept them at "
                f"{page}/rules and run the command again. If that page has no button to join, the competition is "
                f"closed to new participants. {ALTERNATIVES}"
            )
        case 404:
            return f"Kaggle no longer offers the data of {competition} (see {page}). {ALTERNATIVES}"
        case status:
            return f"Kaggle answered {status} for {competition}: {error}. Try again later. {ALTERNATIVES}"
