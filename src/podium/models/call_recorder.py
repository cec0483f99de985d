"""What is journalled of each request to a model: enough for its provider to say whether it ever was made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from podium.workspace.journal.events import ModelCall

ANSWER_IDS = ("id", "responseId", "response_id")
"""Where providers put their name for an answer."""
NOT_SENT = frozenset({"extra_headers", "extra_query", "extra_body", "timeout"})
"""In the body, that is."""


class CallRecorder:
    """Keeps calls until the journal takes them."""

    def __init__(self) -> None:
        self._calls: list[ModelCall] = []

    def note(self, model: str, request: Mapping[str, Any], response: Mapping[str, Any]) -> None:
        """Notes an answered request, both as the provider's client has them."""
        found = next((response[name] for name in ANSWER_IDS if response.get(name)), None)
        self._calls.append(
            ModelCall(
                model=model,
                request_sha256=request_sha256(request),
                response_id=None if found is None else str(found)[:200],
            )
        )

    def take(self) -> tuple[ModelCall, ...]:
        """The calls, which are then gone."""
        taken, self._calls = tuple(self._calls), []
        return taken


def request_sha256(request: Mapping[str, Any]) -> str:
    """Of the body that was sent, independent of the order of keys and of spaces.

    Args:
        request: as the provider's Python client takes it: with settings that are not sent, and None for what is unset.
    """
    body = {**request, **(request.get("extra_body") or {})}
    sent = {name: value for name, value in body.items() if value is not None and name not in NOT_SENT}
    text = json.dumps(sent, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
