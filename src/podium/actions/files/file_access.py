"""Access to workspace files from actions: runs `file_helper.py` inside the sandbox."""

from __future__ import annotations

import json
import marshal
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from podium.actions.action_context import ActionContext
from podium.actions.action_spec import ActionError
from podium.actions.files import file_helper

TIMEOUT_S = 120
_RESULTS: dict[str, object] = {
    "list": {"first": [""], "last": [""], "left_out": 0},
    "read": {"text": "", "tail": "", "size": 0, "left_out": 0, "is_text": True, "is_clean": True},
    "lines": {"lines": [""], "count": 0, "is_text": True},
    "find": "",
    "write": None,
    "copy": "",
    "undo": {"is_removed": True, "left": 0},
}
"""Example of each operation's result, for validation."""


@dataclass(frozen=True)
class FileText:
    """Content of a file; only the beginning and the end of a long one."""

    text: str
    tail: str
    size: int
    left_out: int
    """Number of bytes between `text` and `tail`."""
    is_text: bool
    is_clean: bool
    """True if the file is valid UTF-8; otherwise invalid bytes were replaced."""

    def __str__(self) -> str:
        return f"{self.text}\n[... {self.left_out:,} bytes left out ...]\n{self.tail}" if self.left_out else self.text


@cache
def module_source(module_file: str) -> str:
    """Return the source code of one of our modules, to be run in the sandbox as `python -c`."""
    return Path(module_file).read_text(encoding="utf-8")


async def call_file_helper(context: ActionContext, do: str, **request: object) -> Any:
    """Run an operation of `file_helper.py` in the sandbox and return its result.

    Raises:
        ActionError: the helper refused it or could not be run.
    """
    from inspect_ai.util import OutputLimitExceededError, sandbox

    command = [context.python, "-I", "-S", "-B", "-c", module_source(file_helper.__file__)]
    try:
        done = await sandbox().exec(
            command,
            input=marshal.dumps({"do": do, "linked": list(context.linked), **request}, 2),
            cwd=context.root,
            timeout=TIMEOUT_S,
            timeout_retry=False,
            concurrency=False,
        )
    except (TimeoutError, PermissionError, OutputLimitExceededError) as error:
        raise ActionError(f"The workspace could not be reached: {error}") from error
    try:
        answer = json.loads(done.stdout)
    except (ValueError, RecursionError) as error:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise ActionError(f"The workspace could not be reached: {said[-1]}") from error
    if _fits(answer, {"refused": ""}):
        raise ActionError(answer["refused"])
    if not _fits(answer, {"result": _RESULTS[do]}):
        raise ActionError("The workspace could not be reached: a program in the workspace interfered with the answer.")
    return answer["result"]


def _fits(value: object, example: object) -> bool:
    """Check that a value is structured like an example; other programs inside can write to the helper's output."""
    if isinstance(example, dict):
        if not isinstance(value, dict) or value.keys() != example.keys():
            return False
        return all(_fits(value[key], part) for key, part in example.items())
    if isinstance(example, list):
        return isinstance(value, list) and all(_fits(item, example[0]) for item in value)
    return type(value) is type(example)


async def read_text(context: ActionContext, name: str, *, limit_bytes: int, missing_is_empty: bool = False) -> FileText:
    """Return the content of a text file, up to a limit.

    Raises:
        ActionError: there is no such file, or it is not text.
    """
    file = FileText(
        **await call_file_helper(context, "read", name=name, limit_bytes=limit_bytes, missing_is_empty=missing_is_empty)
    )
    if not file.is_text:
        raise ActionError(f"{name} is a binary file of {file.size:,} bytes and cannot be used as text.")
    return file
