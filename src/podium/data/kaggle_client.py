"""Kaggle's official client with the user's credentials."""

from __future__ import annotations

from typing import Any

from podium.errors import DownloadError, MissingExtraError


def authenticated_client(otherwise: str) -> Any:
    """Kaggle's client.

    Args:
        otherwise: what can be done without Kaggle.

    Raises:
        MissingExtraError: it is not installed.
        DownloadError: there are no credentials.
    """
    try:
        from kaggle.api.kaggle_api_extended import KaggleApi
    except ImportError as error:
        raise MissingExtraError("Downloading from Kaggle", "kaggle") from error
    client = KaggleApi()
    try:
        client.authenticate()
    except SystemExit as error:  # the client's way of saying that there are no credentials
        raise DownloadError(
            "There are no Kaggle credentials. Make a token at https://www.kaggle.com/settings and save it as "
            f"~/.kaggle/kaggle.json, or set KAGGLE_USERNAME and KAGGLE_KEY. {otherwise}"
        ) from error
    return client


def open_connection(client: Any) -> Any:
    """A connection to Kaggle, to be used in a `with` block."""
    from kagglesdk import KaggleClient

    known = client.config_values
    # Not the client's own factory: that one ignores KAGGLE_API_ENVIRONMENT, which mirrors and tests set.
    return KaggleClient(username=known.get("username"), password=known.get("key"), api_token=known.get("token"))


def refused_credentials() -> str:
    """What to do when Kaggle does not accept the credentials."""
    return (
        "Kaggle does not accept the credentials. Make a new token at https://www.kaggle.com/settings and save "
        "it as ~/.kaggle/kaggle.json."
    )
