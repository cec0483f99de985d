"""What tells an agent without a model whether a program got better: the program's own words, examples, or its speed."""

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

from podium.catalog.folder import printed_score
from podium.task import Task

SPEED, EXAMPLES, SECONDS = "speed-up", "examples", "podium-seconds"
_LINE = re.compile(r"(?m)^\W*([^:=\n]*?)\s*[:=]\s*([-+]?[\d,]*\.?\d+(?:[eE][-+]?\d+)?)\s*%?\s*$")
_HIGHER = re.compile(r"(?i)accuracy|\bacc\b|f1|auc|dice|iou|precision|recall|r2|\br²")
_LOWER = re.compile(r"(?i)error|loss|\b\w*(mae|mse|rmse)\b|smape|perplexity")
_TRAINING = re.compile(r"(?i)\btrain(ing)?\b|seconds|time")


@dataclass(frozen=True)
class Examples:
    """Solved examples among the public data, and how the program is asked to solve one."""

    examples: str
    input: str
    """The field that is given to the program."""
    expected: str
    """The field with the names it should come to."""
    things: str
    """The file that lists all things with such names."""
    arguments: tuple[str | None, ...]
    """What the program is called with, the outputs after the input; None stands for the input itself."""


def read_score(output: str, task: Task) -> float | None:
    """The validation score that a program printed: by its name, or the last line that looks like one."""
    if task.kind == "folder":
        return printed_score(output, task.metric.title)
    wrong = _LOWER if task.metric.higher_is_better else _HIGHER
    for label, number in reversed(_LINE.findall(output)):
        if label and not (wrong.search(label) or _TRAINING.search(label) or label == SECONDS):
            return float(number.replace(",", ""))
    return None


def scores_of_examples(output: str) -> list[float]:
    """The score of each example, as `inside/trial.py` prints them."""
    lines = re.findall(r"(?m)^scores: ([\d. ]+)$", output)
    return [float(text) for text in lines[-1].split()] if lines else []


def standard_error(scores: Sequence[float], others: Sequence[float]) -> float:
    """Of the mean difference between two programs on the same examples; 0 where that cannot be said."""
    if len(scores) != len(others) or len(scores) < 2:
        return 0.0
    differences = [one - other for one, other in zip(scores, others, strict=True)]
    return statistics.stdev(differences) / math.sqrt(len(differences))


def find_examples(script: str, source: str, public: Path) -> Examples | None:
    """Examples in the public data that say which things belong to an input, if the program tells how it is called."""
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
    """What a program's docstring says it is called with: `python cite.py PARAGRAPH.txt CITED.tex`."""
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
    """The texts in a list of texts at any depth; empty where it is something else."""
    if not isinstance(value, list):
        return set()
    found: set[str] = set()
    for item in value:
        found |= {item} if isinstance(item, str) else _names(item)
    return found


def _is_text(value: Any) -> bool:
    texts = value if isinstance(value, list) else [value]
    return bool(texts) and all(isinstance(text, str) and " " in text for text in texts)
