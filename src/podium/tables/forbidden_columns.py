"""Forbidden columns: names that a task's brief says must not be used."""

from __future__ import annotations

import re

_PROHIBITION = re.compile(
    r"forbid|prohibit|against the rules|off[- ]limits|not (?:allowed|permitted)"
    r"|\b(?:must|may|should|can|do|does|is|are)(?: ?not|n't) (?:(?:let|allow) \w+ )?(?:to )?(?:be )?us(?:e|ed|ing)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|\*\*([^*]+)\*\*")
_PARAGRAPH = re.compile(r"\n\s*(?:\n|[-*|#]|\d+\.)")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def forbidden_names(brief: str) -> frozenset[str]:
    """Return the quoted names (of columns or other things) in sentences that forbid their use."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in _PARAGRAPH.split(brief))
    sentences = (sentence for paragraph in paragraphs for sentence in _SENTENCE.split(paragraph))
    rules = (sentence for sentence in sentences if _PROHIBITION.search(sentence))
    return frozenset(name for rule in rules for found in _QUOTED.findall(rule) for name in found if name)
