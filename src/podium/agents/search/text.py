"""Text within bounds, and text from elsewhere kept apart from our own."""

from __future__ import annotations


def shortened(text: str, limit: int) -> str:
    """The text, or its beginning and end around a line that counts what was left out."""
    if len(text) <= limit:
        return text
    half = max(0, limit // 2 - 25)
    return f"{text[:half]}\n[... {len(text) - 2 * half:,} characters left out ...]\n{text[len(text) - half :]}"


def whole(text: str) -> str:
    """The text without halves of characters (lone surrogates), which JSON can bring and no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def quoted(tag: str, text: str) -> str:
    """Text between tags that it cannot close itself, so that a reader knows where it ends."""
    return f"<{tag}>\n{text.replace(f'</{tag}', f'< /{tag}').strip()}\n</{tag}>"
