"""Recorder of model calls: journals enough of each request for the provider to confirm that it was made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from podium.workspace.journal.events import ModelCall

ANSWER_IDS = ("id", "responseId", "response_id")
"""Response fields in which providers return the id of an answer."""
NOT_SENT = frozenset({"extra_headers", "extra_query", "extra_body", "timeout"})
"""Request settings that are not part of the body."""


class CallRecorder:
    """Buffer of model calls until the journal takes them."""

    def __init__(self) -> None:
        self._calls: list[ModelCall] = []

    def note(self, model: str, request: Mapping[str, Any], response: Mapping[str, Any]) -> None:
        """Record an answered request; both arguments are as the provider's client has them."""
        found = next((response[name] for name in ANSWER_IDS if response.get(name)), None)
        self._calls.append(
            ModelCall(
                model=model,
                request_sha256=request_sha256(request),
                response_id=None if found is None else str(found)[:200],
            )
        )

    def take(self) -> tuple[ModelCall, ...]:
        """Return the recorded calls and clear the buffer."""
        taken, self._calls = tuple(self._calls), []
        return taken


def request_sha256(request: Mapping[str, Any]) -> str:
    """Return the hash of a request body, independent of key order and whitespace.

    Args:
        request: arguments of the provider's Python client, including those that are not sent or are None.
    """
    body = {**request, **(request.get("extra_body") or {})}
    sent = {name: value for name, value in body.items() if value is not None and name not in NOT_SENT}
    text = json.dumps(sent, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
