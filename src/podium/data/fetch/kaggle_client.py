"""Kaggle's official client with the user's credentials."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from podium.errors import DownloadError, MissingExtraError

PATIENCE_S = 300
"""How long a connection may be silent, as for the parts that Kaggle's client fetches itself."""


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


@contextmanager
def open_connection(client: Any) -> Iterator[Any]:
    """A connection to Kaggle that does not wait for ever for an answer."""
    from kagglesdk import KaggleClient

    known = client.config_values
    # Not the client's own factory: that one ignores KAGGLE_API_ENVIRONMENT, which mirrors and tests set.
    connection = KaggleClient(username=known.get("username"), password=known.get("key"), api_token=known.get("token"))
    with connection as kaggle:
        session = kaggle.http_client()._session
        session.send = partial(session.send, timeout=PATIENCE_S)
        yield kaggle


def refused_credentials() -> str:
    """What to do when Kaggle does not accept the credentials."""
    return (
        "Kaggle does not accept the credentials. Make a new token at https://www.kaggle.com/settings and save "
        "it as ~/.kaggle/kaggle.json."
    )
