"""Downloads from Zenodo of files that are not part of Kaggle's data."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

from podium.data.fetch.http_download import check_room
from podium.errors import DownloadError

SITE = "https://zenodo.org"
PATIENCE_S = 60


@contextmanager
def zenodo_file(record: int, name: str, raw: Path, near: Path, *, site: str = SITE) -> Iterator[Path]:
    """Yield a file of a record: from the raw folder if it is there, else a temporary download next to `near`.

    The raw folder is not changed.
    """
    if (raw / name).exists():
        yield raw / name
        return
    with tempfile.TemporaryDirectory(dir=near.parent, prefix=".fetched-") as folder:
        try:
            _fetch(f"{site}/api/records/{record}", name, Path(folder) / name)
        except (OSError, ValueError, KeyError, StopIteration, HTTPException) as error:
            raise DownloadError(
                f"{name} is not part of Kaggle's download, and it could not be fetched from {site}/records/{record} "
                f"({error or type(error).__name__}). Download it there and save it in {raw}."
            ) from error
        yield Path(folder) / name


def _fetch(record: str, name: str, path: Path) -> None:
    """Download a file and compare it with the checksum in its record."""
    with urlopen(record, timeout=PATIENCE_S) as answer:
        announced = next(file["checksum"] for file in json.load(answer)["files"] if file["key"] == name)
    with urlopen(f"{record}/files/{name}/content", timeout=PATIENCE_S) as answer, path.open("wb") as file:
        check_room(answer, path.parent)
        shutil.copyfileobj(answer, file)
    with path.open("rb") as written:
        found = f"md5:{hashlib.file_digest(written, 'md5').hexdigest()}"
    if found != announced:
        raise ValueError(f"the download is damaged: its checksum is {found}, expected {announced}")
