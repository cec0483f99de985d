"""Downloads from Hugging Face with its own client: resumed, verified, at a fixed revision."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from podium.data.fetch.http_download import RESUME_HINT
from podium.errors import DownloadError, MissingExtraError
from podium.safefs.remove_tree import remove_tree


def fetch_from_hub(
    repository: str,
    names: Iterable[str],
    folder: Path,
    *,
    is_dataset: bool = False,
    revision: str | None = None,
    endpoint: str | None = None,
) -> None:
    """Download files of a repository; complete files are not fetched again.

    Args:
        endpoint: Another site with the hub's API; default: `$HF_ENDPOINT`, else the hub.

    Raises:
        DownloadError: The hub cannot be reached or refuses.
    """
    try:
        from huggingface_hub import hf_hub_download
    except ImportError as error:
        raise MissingExtraError(f"Downloading {repository}", "research") from error
    kind = "dataset" if is_dataset else "model"
    for name in names:
        try:
            hf_hub_download(repository, name, repo_type=kind, revision=revision, local_dir=folder, endpoint=endpoint)
        except (OSError, ValueError) as error:
            reason = next(iter(str(error).splitlines()), type(error).__name__)
            raise DownloadError(
                f"{name} could not be downloaded from Hugging Face ({reason}). If {repository} requires accepting a "
                f"licence, accept it on its page and set HF_TOKEN. {RESUME_HINT}"
            ) from error
    remove_tree(folder / ".cache")  # the client's record of partial downloads
