"""Parser of model answers: plan and script, or a review. Faults are returned, not raised."""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from podium.agents.search.proposers.proposer import Review
from podium.text import bounded

SCRIPT_CHARACTERS = 100_000
PLAN_CHARACTERS = 2_000
REVIEW_CHARACTERS = 20_000
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_OPENING = re.compile(r"^[ \t]*(```+|~~~+)[ \t]*(\w*)", re.MULTILINE)
_EDIT = re.compile(r"^<{5,} SEARCH\n(.+?\n)={5,}\n(.*?)^>{5,} REPLACE", re.DOTALL | re.MULTILINE)
_LANGUAGES = frozenset({"", "python", "py", "python3"})


@dataclass(frozen=True)
class CodeAnswer:
    """Plan and script of an answer; `fault` is the reason if the script cannot be used."""

    plan: str
    script: str = ""
    fault: str | None = None


def read_answer(text: str, *, cut_off: bool = False, base: str = "") -> CodeAnswer:
    """Return the plan and the script of an answer. Of several code blocks, the longest Python block counts.

    Args:
        base: script to which edits in the answer apply.
    """
    text = _THOUGHTS.sub("", text.replace("\r\n", "\n"))
    if base and (edits := _EDIT.findall(text)):
        return _edited(bounded(_EDIT.split(text)[0].strip("`\n "), PLAN_CHARACTERS), base, edits)
    plan = bounded(_OPENING.split(text, maxsplit=1)[0].strip(), PLAN_CHARACTERS)
    found = _blocks(text, with_open=not cut_off)
    blocks = [code for language, code in found if language.lower() in _LANGUAGES and code.strip()]
    if not blocks:
        missing = "the answer has no code block" if text.strip() else "the answer is empty"
        return CodeAnswer(plan, fault="the answer was truncated before the end of the script" if cut_off else missing)
    faults = {code: _syntax_fault(code) for code in blocks}
    sound = [code for code in blocks if faults[code] is None]
    script = max(sound or blocks, key=len)
    fault = faults[script]
    if len(script) > SCRIPT_CHARACTERS:
        fault = f"the script has {len(script):,} characters, more than the maximum of {SCRIPT_CHARACTERS:,}"
        script = ""
    return CodeAnswer(plan, script, fault)


def _edited(plan: str, base: str, edits: list[tuple[str, str]]) -> CodeAnswer:
    """Apply the edits to a script, all or none."""
    script = base
    for old, new in edits:
        count = script.count(old)
        if count != 1:
            line = old.strip().partition("\n")[0][:80]
            return CodeAnswer(
                plan, fault=f"the SEARCH text that begins with {line!r} occurs {count} times in the script, not once"
            )
        script = script.replace(old, new)
    return CodeAnswer(plan, script, _syntax_fault(script))


def _blocks(text: str, *, with_open: bool) -> Iterator[tuple[str, str]]:
    """Yield the language and content of the code blocks of a text, in linear time.

    Args:
        with_open: also yield a last block that is not closed, as some models omit the closing fence.
    """
    fence = language = ""
    lines: list[str] = []
    for line in text.split("\n"):
        if not fence:
            if opening := _OPENING.match(line):
                fence, language, lines = opening[1], opening[2], []
        elif line.strip() == fence:
            yield language, "\n".join([*lines, ""])
            fence = ""
        else:
            lines.append(line)
    if fence and with_open:
        yield language, "\n".join([*lines, ""])


def _syntax_fault(code: str) -> str | None:
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f" in line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        return f"the script is not valid Python{line}: {getattr(error, 'msg', error)}"
    return None


def read_review(arguments: dict[str, Any] | None, text: str) -> Review | None:
    """Return the review in a tool call's arguments or, for models that answer in prose, in the JSON of their text."""
    found = arguments if arguments else _json_in(text)
    if not isinstance(found, dict) or not isinstance(found.get("is_bug"), bool):
        return None
    return Review(is_buggy=found["is_bug"], metric=_number(found.get("metric")), summary=str(found.get("summary", "")))


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _json_in(text: str) -> Any:
    """Return the first JSON object in a text. Trailing commas are accepted."""
    text = _THOUGHTS.sub("", text)[:REVIEW_CHARACTERS]
    for start in (found.start() for found in islice(re.finditer(r"\{", text), 50)):
        for candidate in (text[start:], re.sub(r",\s*([}\]])", r"\1", text[start:])):
            try:
                return json.JSONDecoder().raw_decode(candidate)[0]
            except (ValueError, RecursionError):
                continue
    return None
