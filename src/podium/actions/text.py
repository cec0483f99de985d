"""Text within bounds, and text that any file can hold."""

from __future__ import annotations

from typing import Any

OBSERVATION_CHARACTERS = 20_000


def bounded(text: str, limit: int = OBSERVATION_CHARACTERS) -> str:
    """The text, or its beginning and end around a line that counts what was left out, together within the limit."""
    if len(text) <= limit:
        return text
    half = max(0, limit // 2 - 25)
    return f"{text[:half]}\n[... {len(text) - 2 * half:,} characters left out ...]\n{text[len(text) - half :]}"


def valid_unicode(value: Any) -> Any:
    """The JSON value with lone surrogates replaced: models write them, and no file can hold them."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {valid_unicode(name): valid_unicode(part) for name, part in value.items()}
    return [valid_unicode(part) for part in value] if isinstance(value, list) else value
