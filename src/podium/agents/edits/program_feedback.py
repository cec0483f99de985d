"""Feedback on a program without a model: the score that it prints, or its answers to solved examples."""

from __future__ import annotations

import ast
import json
import math
import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium.task import Task
from podium.text import printed_score

EXAMPLES, SECONDS = "examples", "podium-seconds"
_LINE = re.compile(r"(?m)^\W*([^:=\n]*?)\s*[:=]\s*([-+]?[\d,]*\.?\d+(?:[eE][-+]?\d+)?)\s*%?\s*$")
_HIGHER = re.compile(r"(?i)accuracy|\bacc\b|f1|auc|dice|iou|precision|recall|r2|\br²")
_LOWER = re.compile(r"(?i)error|loss|\b\w*(mae|mse|rmse)\b|smape|perplexity")
_TRAINING = re.compile(r"(?i)\btrain(ing)?\b|seconds|time")


@dataclass(frozen=True)
class Examples:
    """Solved examples in the public data, and the program's arguments for solving one of them."""

    examples: str
    input: str
    """Field with the input of an example."""
    expected: str
    """Field with the expected names."""
    catalogue: str
    """File that lists all records with such a name."""
    arguments: tuple[str | None, ...]
    """Arguments of the program: the input, then the output files. None is replaced by the text of the input."""


def read_score(output: str, task: Task) -> float | None:
    """Return the validation score that a program printed: by its name, or the last line that looks like one."""
    if task.kind == "folder":
        return printed_score(output, task.metric.title)
    wrong = _LOWER if task.metric.higher_is_better else _HIGHER
    for label, number in reversed(_LINE.findall(output)):
        if label and not (wrong.search(label) or _TRAINING.search(label) or label == SECONDS):
            return float(number.replace(",", ""))
    return None


def scores_of_examples(output: str) -> list[float]:
    """Return the score of each example from the output of `inside/trial.py`."""
    lines = re.findall(r"(?m)^scores: ([\d. ]+)$", output)
    return [float(text) for text in lines[-1].split()] if lines else []


def standard_error(scores: Sequence[float], others: Sequence[float]) -> float:
    """Return the standard error of the mean difference between two programs on the same examples; 0 if unknown."""
    if len(scores) != len(others) or len(scores) < 2:
        return 0.0
    differences = [one - other for one, other in zip(scores, others, strict=True)]
    return statistics.stdev(differences) / math.sqrt(len(differences))


def find_examples(script: str, source: str, public: Path) -> Examples | None:
    """Find examples in the public data that list the expected names, if the program documents its arguments."""
    arguments = _usage(script, source)
    if arguments is None:
        return None
    tables = {path: first for path in sorted(public.glob("*.jsonl")) if (first := _first_record(path))}
    for things, thing in tables.items():
        if not isinstance(thing.get("id"), str):
            continue
        known = {record["id"] for record in _records(things) if isinstance(record.get("id"), str)}
        for path, record in tables.items():
            if path == things:
                continue
            expected = [name for name, value in record.items() if set() < _names(value) <= known]
            given = [name for name, value in record.items() if name not in expected and _is_text(value)]
            if expected and given:
                return Examples(f"data/{path.name}", given[0], expected[0], f"data/{things.name}", arguments)
    return None


def _usage(script: str, source: str) -> tuple[str | None, ...] | None:
    """Read a program's arguments from its docstring: `python cite.py PARAGRAPH.txt CITED.tex`."""
    try:
        text = ast.get_docstring(ast.parse(source)) or ""
    except SyntaxError:
        return None
    for line in re.findall(rf"python {re.escape(script)} (.+)", text):
        words = line.split()
        if len(words) > 1 and all(re.fullmatch(r'"?[A-Z]+(\.\w+)?"?', word) for word in words):
            first = words[0].strip('"')
            return (first.lower() if "." in first else None, *(word.strip('"').lower() for word in words[1:]))
    return None


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            if isinstance(found := json.loads(line), dict):
                yield found


def _first_record(path: Path) -> dict[str, Any] | None:
    try:
        return next(_records(path), None)
    except (OSError, ValueError):
        return None


def _names(value: Any) -> set[str]:
    """Return the strings in a list of strings at any depth; empty for anything else."""
    if not isinstance(value, list):
        return set()
    found: set[str] = set()
    for item in value:
        found |= {item} if isinstance(item, str) else _names(item)
    return found


def _is_text(value: Any) -> bool:
    texts = value if isinstance(value, list) else [value]
    return bool(texts) and all(isinstance(text, str) and " " in text for text in texts)
