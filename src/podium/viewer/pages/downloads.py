"""Downloads of a run's files: submission, script, log, journal, record."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from podium.runs.run_folder import RunFolder
from podium.safefs.open_nofollow import is_folder, open_regular
from podium.viewer.drawing import tree_drawing
from podium.viewer.http_security import attachment
from podium.viewer.page_site import site_of

CHUNK_BYTES = 1 << 20


class SavedFile(NamedTuple):
    """Downloadable file of a run."""

    name: str
    """Name in the address."""
    title: str
    path: Path
    size_bytes: int


def saved_files(folder: RunFolder) -> list[SavedFile]:
    """Return the downloadable files of a run."""
    every = [
        ("submission", "Submission", folder.submission),
        *((f"log/{path.name}", "Inspect log", path) for path in find_logs(folder)),
        ("journal", "Journal", folder.journal),
        ("record", "Record", folder.record),
        ("curve", "Score curve", folder.curve),
        ("output", "Worker output", folder.output),
    ]
    sizes = [_regular_size(path) for *_, path in every]
    return [SavedFile(*file, size) for file, size in zip(every, sizes, strict=True) if size]


def find_logs(folder: RunFolder) -> list[Path]:
    """Return the Inspect logs of a run, oldest first."""
    try:
        found = folder.logs.glob("*.eval") if is_folder(folder.logs) else iter(())
        return sorted(path for path in found if path.name.isprintable())
    except OSError:
        return []


def _regular_size(path: Path) -> int | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def save(request: Request) -> Response:
    """Respond with one of the files of a run."""
    row, folder, _ = site_of(request).find_run(request)
    wanted = request.path_params["name"]
    file = next((each for each in saved_files(folder) if each.name == wanted), None)
    if file is None:
        raise HTTPException(404, "This run has no such file.")
    try:
        descriptor = open_regular(file.path, top=folder.experiment)
    except OSError as error:
        raise HTTPException(404, f"This file cannot be downloaded: {error.strerror}.") from error
    headers = attachment(f"{row.task}-{row.seed}-{file.path.name}")
    return StreamingResponse(_content(descriptor), media_type="application/octet-stream", headers=headers)


def _content(descriptor: int) -> Iterator[bytes]:
    with os.fdopen(descriptor, "rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def save_script(request: Request) -> Response:
    """Respond with a script of the search."""
    site = site_of(request)
    row, folder, _ = site.find_run(request)
    search = tree_drawing.read_search(folder, site.follow(folder).journal)
    number = request.path_params["number"]
    if search is None or not 0 <= number < len(search.tree):
        raise HTTPException(404, "This script does not exist.")
    data = search.tree[number].script.encode("utf-8", "replace")
    headers = attachment(f"{row.task}-{row.seed}-script-{number}.py.txt")
    return Response(data, media_type="text/plain; charset=utf-8", headers=headers)
