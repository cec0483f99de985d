"""Files from the web: resumed where a download broke off, compared with their checksums, many at a time."""

from __future__ import annotations

import hashlib
import http.client
import logging
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from podium.data.fetch.kaggle_download import OTHERWISE
from podium.errors import DownloadError
from podium.text import format_size

logger = logging.getLogger(__name__)

ATTEMPTS = 5
PAUSE_S = 1.0
"""Before the second attempt; each further pause is twice as long."""
PATIENCE_S = 60
CHUNK_BYTES = 1 << 20
THREADS = 16
MOST_FAILURES = 50
"""Of many files; after so many the site is given up."""
WORTH_REPEATING = {408, 416, 425, 429, 500, 502, 503, 504}
AGAIN = f"What has arrived is kept: run the command again to go on. {OTHERWISE}"

FileCheck = Callable[[Path], None]
"""`check(path)` raises ValueError or OSError if a file is not what it should be."""


def fetch_file(
    url: str, path: Path, *, checksum: str | None = None, check: FileCheck | None = None, pause_s: float = PAUSE_S
) -> None:
    """Downloads a file, unless it is there. Until it is whole it lies beside its place and can be continued.

    Args:
        checksum: What it should have, such as `md5:0123…` or `sha256:0123…`.
        check: A further look at the file before it counts.

    Raises:
        DownloadError: the site cannot be reached, refuses, or sends something else.
    """
    if path.exists():
        return
    part = path.with_name(f"{path.name}.part")
    part.parent.mkdir(parents=True, exist_ok=True)
    for attempt in range(ATTEMPTS):
        try:
            _continue(url, part)
            _inspect(part, checksum, check)
            part.replace(path)
            return
        except DownloadError:  # there is no room: it would not be different the next time
            raise
        except (OSError, ValueError, http.client.HTTPException) as error:
            if attempt == ATTEMPTS - 1 or (isinstance(error, HTTPError) and error.code not in WORTH_REPEATING):
                raise DownloadError(f"{url} could not be downloaded ({_reason(error)}). {AGAIN}") from error
            logger.info("%s: %s; trying again", url, _reason(error))
            time.sleep(pause_s * 2**attempt)


@contextmanager
def fetched(url: str, path: Path, *, checksum: str) -> Iterator[Path]:
    """A downloaded file that is needed only in the block, which unpacks it; it is kept if that fails.

    Raises:
        DownloadError: it could not be had.
    """
    fetch_file(url, path, checksum=checksum)
    yield path
    path.unlink()


def fetch_files(
    urls: Mapping[str, str], folder: Path, *, check: FileCheck | None = None, pause_s: float = PAUSE_S
) -> None:
    """Downloads many files at a time, by their names in a folder; those that are there are left alone.

    Raises:
        DownloadError: some could not be had.
    """

    failures: list[DownloadError] = []

    def fetch(name: str) -> None:
        try:
            if len(failures) < MOST_FAILURES:
                fetch_file(urls[name], folder / name, check=check, pause_s=pause_s)
        except DownloadError as error:
            failures.append(error)

    logger.info("Downloading %s files to %s", len(urls), folder)
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(fetch, urls))
    if failures:
        missing = sum(not (folder / name).exists() for name in urls)
        raise DownloadError(f"{missing} of {len(urls)} files are missing. For one of them: {failures[0]}")


def _continue(url: str, part: Path) -> None:
    """Fetches what a file still lacks, or all of it where the site cannot start in the middle."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "podium"} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        answer = urlopen(Request(url, headers=headers), timeout=PATIENCE_S)
    except HTTPError as error:
        error.close()
        if error.code == 416:  # what we have is too long, or as long as it gets but unchecked
            part.unlink()
        raise
    with answer:
        check_room(answer, part.parent)
        _write(answer, part)


def check_room(answer: Any, folder: Path) -> None:
    """Compares what a site is about to send with the space that is free.

    Raises:
        DownloadError: it will not do.
    """
    size, free = int(answer.headers.get("Content-Length") or 0), shutil.disk_usage(folder).free
    if size > free:
        raise DownloadError(
            f"{answer.url} sends {format_size(size)}, but {folder} has {format_size(free)} free. Make room, or choose "
            "another disk with --data-dir."
        )


def _write(answer: Any, part: Path) -> None:
    with part.open("ab" if answer.status == 206 else "wb") as file:
        expected = int(answer.headers.get("Content-Length") or -1)
        received = 0
        while chunk := answer.read(CHUNK_BYTES):
            file.write(chunk)
            received += len(chunk)
    if expected >= 0 and received < expected:
        raise OSError(f"it broke off after {received} of {expected} bytes")


def _inspect(part: Path, checksum: str | None, check: FileCheck | None) -> None:
    """Deletes a whole file that is not the right one: continuing it would be of no use."""
    try:
        if checksum is not None:
            _compare(part, checksum)
        if check is not None:
            check(part)
    except (OSError, ValueError):
        part.unlink()
        raise


def _compare(path: Path, checksum: str) -> None:
    method, _, expected = checksum.partition(":")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, method).hexdigest()
    if found != expected:
        raise ValueError(f"it arrived damaged: {method}:{found}, announced {checksum}")


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
