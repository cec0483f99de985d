"""Files from Hugging Face, through its own client: resumed, checked, at a fixed revision."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from podium.data.fetch.kaggle_download import OTHERWISE
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
    """Downloads files of a repository; those that are whole are not fetched again.

    Args:
        endpoint: another site that speaks the hub's protocol; by default `$HF_ENDPOINT`, else the hub.

    Raises:
        DownloadError: the hub cannot be reached or refuses; says why.
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
                f"{name} could not be downloaded from Hugging Face ({reason}). Where a licence has to be accepted, do "
                "so on the page of the repository and set HF_TOKEN. What has arrived is kept: run the command again "
                f"to go on. {OTHERWISE}"
            ) from error
    remove_tree(folder / ".cache")  # the client's notes on how far it got
