"""Download of a competition's most-voted public notebooks with Kaggle's official client."""

from __future__ import annotations

import logging
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.data.fetch.kaggle_client import authenticated_client, open_connection, refused_credentials
from podium.errors import DownloadError, MissingExtraError
from podium.safefs.atomic_files import write_atomically

if TYPE_CHECKING:
    from requests import HTTPError

logger = logging.getLogger(__name__)

PAGE_SIZE = 50
"""Number of notebooks listed per request."""
ALTERNATIVE = "Pass notebooks you already have with --against DIR."
_ENDINGS = {"notebook": ".ipynb", "script": ".py"}


def fetch_notebooks(competition: str, folder: Path, count: int) -> list[Path]:
    """Download the most-voted public Python notebooks of a competition into a folder; existing files are kept.

    Raises:
        DownloadError: Kaggle refuses, or the connection failed.
    """
    try:
        import requests
    except ImportError as error:
        raise MissingExtraError("Downloading from Kaggle", "kaggle") from error
    with redirect_stdout(sys.stderr):  # Kaggle's client prints notices; standard output is for our results
        client = authenticated_client(ALTERNATIVE)
        try:
            with open_connection(client) as kaggle:
                names = _most_voted(kaggle, competition, count)
                return [path for name in names if (path := _fetch(kaggle, name, folder)) is not None]
        except requests.HTTPError as error:
            raise DownloadError(_explain(error, competition)) from error
        except (requests.RequestException, ValueError) as error:
            raise DownloadError(
                f"Some notebooks of {competition} could not be downloaded ({error}). Run the command again to resume."
            ) from error


def _most_voted(kaggle: Any, competition: str, count: int) -> list[str]:
    """Return the names (AUTHOR/TITLE) of notebooks, sorted by votes."""
    from kagglesdk.kernels.types.kernels_api_service import ApiListKernelsRequest
    from kagglesdk.kernels.types.kernels_enums import KernelsListSortType, KernelsListViewType

    names: list[str] = []
    for page in range(1, 2 + count // PAGE_SIZE):
        request = ApiListKernelsRequest()
        request.competition, request.language = competition, "python"
        request.group, request.sort_by = KernelsListViewType.EVERYONE, KernelsListSortType.VOTE_COUNT
        request.page, request.page_size = page, min(PAGE_SIZE, count)
        found = [kernel.ref for kernel in kaggle.kernels.kernels_api_client.list_kernels(request).kernels or []]
        names += [name for name in found if name not in names]
        if len(found) < PAGE_SIZE or len(names) >= count:
            break
    return names[:count]


def _fetch(kaggle: Any, name: str, folder: Path) -> Path | None:
    """Return the file of a notebook, or None if its name is invalid or it is neither a notebook nor a script."""
    from kagglesdk.kernels.types.kernels_api_service import ApiGetKernelRequest

    match = re.fullmatch(r"(?:code/)?([\w-]{1,80})/([\w-]{1,120})", name)
    if match is None:
        return None
    there = [folder / f"{match[1]}.{match[2]}{ending}" for ending in _ENDINGS.values()]
    if kept := next((path for path in there if path.is_file()), None):
        return kept
    request = ApiGetKernelRequest()
    request.user_name, request.kernel_slug = match[1], match[2]
    blob = kaggle.kernels.kernels_api_client.get_kernel(request).blob
    ending = _ENDINGS.get(blob.kernel_type.lower()) if blob else None
    if ending is None:
        return None
    logger.info("Fetched notebook %s", name)
    path = folder / f"{match[1]}.{match[2]}{ending}"
    write_atomically(path, blob.source)
    return path


def _explain(error: HTTPError, competition: str) -> str:
    """Return the message for an error response of Kaggle."""
    match error.response.status_code if error.response is not None else None:
        case 401:
            return refused_credentials()
        case 404:
            return f"Kaggle has no competition {competition} with public notebooks. {ALTERNATIVE}"
        case status:
            return (
                f"Kaggle answered {status} for the notebooks of {competition}: {error}. Try again later. {ALTERNATIVE}"
            )
