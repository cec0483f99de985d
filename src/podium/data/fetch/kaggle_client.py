"""Client of Kaggle's official API, with the user's credentials."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from podium.errors import DownloadError, MissingExtraError

PATIENCE_S = 300
"""Read timeout of a connection, the same as in Kaggle's client."""


def authenticated_client(alternative: str) -> Any:
    """Return Kaggle's client, authenticated.

    Args:
        alternative: A sentence for the error message on what works without Kaggle.

    Raises:
        MissingExtraError: It is not installed.
        DownloadError: There are no credentials.
    """
    try:
        from kaggle.api.kaggle_api_extended import KaggleApi
    except ImportError as error:
        raise MissingExtraError("Downloading from Kaggle", "kaggle") from error
    client = KaggleApi()
    try:
        client.authenticate()
    except SystemExit as error:  # raised by the client if there are no credentials
        raise DownloadError(
            "There are no Kaggle credentials. Create a token at https://www.kaggle.com/settings and save it as "
            f"~/.kaggle/kaggle.json, or set KAGGLE_USERNAME and KAGGLE_KEY. {alternative}"
        ) from error
    return client


@contextmanager
def open_connection(client: Any) -> Iterator[Any]:
    """Yield a connection to Kaggle with a read timeout."""
    from kagglesdk import KaggleClient

    known = client.config_values
    # Not created by the client's own factory, which ignores KAGGLE_API_ENVIRONMENT (set by mirrors and tests).
    connection = KaggleClient(username=known.get("username"), password=known.get("key"), api_token=known.get("token"))
    with connection as kaggle:
        session = kaggle.http_client()._session
        session.send = partial(session.send, timeout=PATIENCE_S)
        yield kaggle


def refused_credentials() -> str:
    """Return the message for credentials that Kaggle rejects."""
    return (
        "Kaggle does not accept the credentials. Create a new token at https://www.kaggle.com/settings and save "
        "it as ~/.kaggle/kaggle.json."
    )
