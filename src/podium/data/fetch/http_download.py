"""HTTP downloads: resumed after interruptions, verified by checksum, in parallel."""

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

from podium.data.fetch.kaggle_download import ALTERNATIVES
from podium.errors import DownloadError
from podium.text import format_size

logger = logging.getLogger(__name__)

ATTEMPTS = 5
PAUSE_S = 1.0
"""Pause before the second attempt; each further pause is twice as long."""
PATIENCE_S = 60
CHUNK_BYTES = 1 << 20
THREADS = 16
MAX_FAILURES = 50
"""Maximum number of failed files before the remaining ones are skipped."""
RETRY_STATUS_CODES = {408, 416, 425, 429, 500, 502, 503, 504}
RESUME_HINT = f"Downloaded parts are kept: run the command again to resume. {ALTERNATIVES}"

FileCheck = Callable[[Path], None]
"""Callback that raises ValueError or OSError if a file is not valid."""


def fetch_file(
    url: str, path: Path, *, checksum: str | None = None, check: FileCheck | None = None, pause_s: float = PAUSE_S
) -> None:
    """Download a file unless it exists. A partial download is kept next to it, as `.part`, and resumed.

    Args:
        checksum: The expected checksum, such as `md5:0123…` or `sha256:0123…`.
        check: A further check of the complete file.

    Raises:
        DownloadError: The site cannot be reached, refuses, or sends another file.
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
        except DownloadError:  # the disk is full: another attempt would not help
            raise
        except (OSError, ValueError, http.client.HTTPException) as error:
            if attempt == ATTEMPTS - 1 or (isinstance(error, HTTPError) and error.code not in RETRY_STATUS_CODES):
                raise DownloadError(f"{url} could not be downloaded ({_reason(error)}). {RESUME_HINT}") from error
            logger.info("Retrying %s after an error: %s", url, _reason(error))
            time.sleep(pause_s * 2**attempt)


@contextmanager
def fetched(url: str, path: Path, *, checksum: str) -> Iterator[Path]:
    """Yield a downloaded file and delete it after the block, which unpacks it; the file is kept if the block fails.

    Raises:
        DownloadError: The file could not be downloaded.
    """
    fetch_file(url, path, checksum=checksum)
    yield path
    path.unlink()


def fetch_files(
    urls: Mapping[str, str], folder: Path, *, check: FileCheck | None = None, pause_s: float = PAUSE_S
) -> None:
    """Download files in parallel to their names in a folder; existing files are kept.

    Raises:
        DownloadError: Some files could not be downloaded.
    """

    failures: list[DownloadError] = []

    def fetch(name: str) -> None:
        try:
            if len(failures) < MAX_FAILURES:
                fetch_file(urls[name], folder / name, check=check, pause_s=pause_s)
        except DownloadError as error:
            failures.append(error)

    logger.info("Downloading %s files to %s", len(urls), folder)
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(fetch, urls))
    if failures:
        missing = sum(not (folder / name).exists() for name in urls)
        raise DownloadError(f"{missing} of {len(urls)} files could not be downloaded. The first error: {failures[0]}")


def _continue(url: str, part: Path) -> None:
    """Fetch the rest of a file, or all of it if the site does not support range requests."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "podium"} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        answer = urlopen(Request(url, headers=headers), timeout=PATIENCE_S)
    except HTTPError as error:
        error.close()
        if error.code == 416:  # the partial file is too long, or complete but not verified
            part.unlink()
        raise
    with answer:
        check_room(answer, part.parent)
        _write(answer, part)


def check_room(answer: Any, folder: Path) -> None:
    """Compare the announced size with the free disk space.

    Raises:
        DownloadError: There is not enough space.
    """
    size, free = int(answer.headers.get("Content-Length") or 0), shutil.disk_usage(folder).free
    if size > free:
        raise DownloadError(
            f"{answer.url} has {format_size(size)}, but only {format_size(free)} are free in {folder}. Free some "
            "space, or choose another disk with --data-dir."
        )


def _write(answer: Any, part: Path) -> None:
    with part.open("ab" if answer.status == 206 else "wb") as file:
        expected = int(answer.headers.get("Content-Length") or -1)
        received = 0
        while chunk := answer.read(CHUNK_BYTES):
            file.write(chunk)
            received += len(chunk)
    if expected >= 0 and received < expected:
        raise OSError(f"the connection closed after {received:,} of {expected:,} bytes")


def _inspect(part: Path, checksum: str | None, check: FileCheck | None) -> None:
    """Verify a complete download; delete it if it is wrong, since resuming it would not help."""
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
        raise ValueError(f"the download is damaged: its checksum is {method}:{found}, expected {checksum}")


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
