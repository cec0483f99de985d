"""Parser of the research agent's text replies: six entries under their titles, the last one in JSON.

Models often deviate from the format. The parser is lenient where the meaning is clear and reports a fault otherwise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from podium.agents.research.researcher_memory import ENTRIES

if TYPE_CHECKING:
    from podium.actions import ActionSpec

TITLES = (*(entry.title for entry in ENTRIES), "Action", "Action Input")
_FENCE = re.compile(r"^\s*```\w*\s*\n|\n?\s*```\s*$")
_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')
_INVENTED = re.compile(r"^\s*Observation\s*:", re.MULTILINE | re.IGNORECASE)


class FormatError(ValueError):
    """Unusable answer. The message is a sentence for the model."""


def read_entries(text: str) -> dict[str, str]:
    """Return the six entries by title. Only the first occurrence of a title counts: repetitions are invented turns.

    Raises:
        FormatError: entries are missing or out of order.
    """
    found: list[re.Match[str]] = []
    position = 0
    for title in TITLES:
        # Titles may be decorated with Markdown.
        match = re.compile(rf"^[\s#>*_]*{title}[\s*_]*:[*_ \t]*", re.MULTILINE | re.IGNORECASE).search(text, position)
        if match is not None:
            found.append(match)
            position = match.end()
        elif re.search(rf"^[\s#>*_]*{title}[\s*_]*:", text, re.MULTILINE | re.IGNORECASE):
            raise FormatError(f'The entry "{title}:" is out of order. The order is: {", ".join(TITLES)}.')
        else:
            raise FormatError(f'The entry "{title}:" is missing. The required entries are: {", ".join(TITLES)}.')
    ends = [*(match.start() for match in found[1:]), len(text)]
    pairs = zip(TITLES, found, ends, strict=True)
    return {title: text[match.end() : end].strip() for title, match, end in pairs}


def find_action(name: str, actions: Mapping[str, ActionSpec], shown: Sequence[str]) -> ActionSpec:
    """Return the action with a name or title.

    Raises:
        FormatError: there is no such action.
    """
    for action in actions.values():
        if action.is_called(name):
            return action
    offered = ", ".join(actions[known].title for known in shown)
    raise FormatError(f"There is no action {name[:60]!r}. The actions are: {offered}.")


def read_input(text: str, action: ActionSpec) -> dict[str, Any]:
    """Return the input of an action.

    Raises:
        FormatError: the input is not a JSON object, or has the wrong names.
    """
    if not action.arguments:
        return {}
    for candidate in _candidates(text):
        try:
            value, _ = json.JSONDecoder(strict=False).raw_decode(candidate[max(candidate.find("{"), 0) :])
        except ValueError:
            continue
        if isinstance(value, dict):
            return check_names(value, action)
    values = _between_names(_INVENTED.split(text)[0], list(action.arguments))
    if values is None:
        raise FormatError(f"The Action Input is not a JSON object. The expected input is:\n{action.template()}\n")
    return values


def check_names(value: dict[str, Any], action: ActionSpec) -> dict[str, Any]:
    """Return the input if it has the names that the action takes.

    Raises:
        FormatError: the input has other names.
    """
    if fault := action.argument_name_problem(value):
        raise FormatError(f"The input of {action.title} {fault}. The expected input is:\n{action.template()}\n")
    return value


def _candidates(text: str) -> Iterator[str]:
    """Yield the text unchanged, without a code fence, and with invalid JSON escapes doubled."""
    yield text
    bare = _FENCE.sub("", text)
    yield bare
    yield _ESCAPE.sub(lambda match: match[0] if match[1] else r"\\", bare)


def _between_names(text: str, names: list[str]) -> dict[str, Any] | None:
    """Return the texts between the names, for input whose quotes are not escaped, or None if a name is missing."""
    values, position = {}, 0
    matches = []
    for name in names:
        match = re.compile(rf'["\']{re.escape(name)}["\']\s*:').search(text, position)
        if match is None:
            return None
        matches.append(match)
        position = match.end()
    ends = [*(match.start() for match in matches[1:]), len(text)]
    for name, match, end in zip(names, matches, ends, strict=True):
        value = re.sub(r"\s*[,}]?\s*(```)?\s*$", "", text[match.end() : end]).strip()
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        values[name] = value if "\n" in value else value.replace("\\n", "\n").replace('\\"', '"').replace("\\t", "\t")
    return values
