"""A fresh task's brief in a model's words: prose only, checked by rules against brief and data, and recorded.

Files, data dictionary, metric and form stay as they are, and so do notes that quote a column: they are exact. Rules
cannot tell whether the sense is the same; the record has both texts, for people to compare.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from podium.catalog.forge import ForgeId
from podium.catalog.forge.families import load_family
from podium.catalog.forge.family import PublicData
from podium.catalog.forge.field import draw_data
from podium.data.files import write_atomically
from podium.data.home import home
from podium.errors import PodiumError

REWORDING_FILE = "rewording.json"
"""The file beside the answers that says what a model did to the brief."""
TRIES = 3
CATEGORIES = 50
"""A column with more texts than these has no categories that a brief could name."""
QUESTION = """Say the following text in other words, as one paragraph of plain sentences. Keep its sense, everything in
backticks, every number, and every name exactly. Add nothing. Answer with the new text alone.

{text}"""
AGAIN = "\n\nAn earlier answer was refused: {fault}."
_QUOTED = re.compile(r"`[^`]*`")
_NUMBER = re.compile(r"\d+(?:[.,:-]\d+)*%?")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][\w-]+")


@dataclass(frozen=True)
class RewordedText:
    """A passage of a brief, and what became of it."""

    original: str
    text: str
    refused: tuple[tuple[str, str], ...]
    """Answers that broke a rule, with which."""


@dataclass(frozen=True)
class Rewording:
    """What a model made of a brief."""

    model: str
    original: str
    brief: str
    passages: tuple[RewordedText, ...]

    @property
    def changed(self) -> int:
        """How many passages have other words now."""
        return sum(passage.text != passage.original for passage in self.passages)


def reword_brief(brief: str, data: PublicData, ask: Callable[[str], str], model: str) -> Rewording:
    """A brief whose prose a model has said in other words; a passage that it does not get right stays.

    Args:
        ask: gives the model's answer to a question.
    """
    words = _words_of(data)
    passages = tuple(_reword(text, words, ask) for text in prose_of(brief))
    told = brief
    for passage in passages:
        told = told.replace(passage.original, passage.text, 1)
    return Rewording(model, brief, told, passages)


def prose_of(brief: str) -> Iterator[str]:
    """The opening, and the notes that quote nothing."""
    opening, _, _, notes, *_ = re.split(r"^## .*\n", brief, flags=re.MULTILINE)
    yield opening.partition("\n")[2].strip()
    for line in notes.splitlines():
        if line.startswith("- ") and "`" not in line:
            yield line.removeprefix("- ")


def _words_of(data: PublicData) -> set[str]:
    """The categories and labels of the tables."""
    texts = [frame[name] for frame in (data.train, *data.tables.values()) for name in frame.select_dtypes(object)]
    few = [column for column in texts if column.nunique() <= CATEGORIES]
    return {str(value) for column in few for value in column.dropna().unique()}


def _reword(text: str, words: set[str], ask: Callable[[str], str]) -> RewordedText:
    refused: list[tuple[str, str]] = []
    for _ in range(TRIES):
        question = QUESTION.format(text=text) + (AGAIN.format(fault=refused[-1][1]) if refused else "")
        answer = ask(question).strip()
        fault = broken_rule(text, answer, words)
        if fault is None:
            return RewordedText(text, answer, tuple(refused))
        refused.append((answer, fault))
    return RewordedText(text, text, tuple(refused))


def broken_rule(original: str, answer: str, words: set[str]) -> str | None:
    """Which rule an answer breaks, if any.

    Args:
        words: categories and labels of the data; those that the original names must be named, and no others.
    """
    if not re.fullmatch(r"[^\n#|<>]+", answer):
        return "it is not one paragraph of plain text"
    if not len(original) / 2 <= len(answer) <= 2 * len(original):
        return "it is less than half or more than twice as long"
    for kind, pattern in (("names in backticks", _QUOTED), ("numbers", _NUMBER)):
        if set(pattern.findall(original)) != set(pattern.findall(answer)):
            return f"its {kind} are not the same"
    for fault, one, other in (("missing", original, answer), ("new", answer, original)):
        words_of_one = {word for word in words if re.search(rf"\b{re.escape(word)}\b", one)} | set(_NAME.findall(one))
        if lacking := sorted(word for word in words_of_one if word not in other):
            return f"'{lacking[0]}' is {fault}"
    return None


def reword_task(task: ForgeId, ask: Callable[[str], str], model: str) -> Rewording:
    """Lets a model reword the brief of a task that is not prepared yet; preparing it uses what is kept here."""
    forged = draw_data(load_family(task.family), task.difficulty, task.source())
    rewording = reword_brief(forged.brief, forged.public, ask, model)
    path = _place(task)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(asdict(rewording), indent=1) + "\n")
    return rewording


def kept_rewording(task: ForgeId, brief: str) -> dict[str, Any] | None:
    """The record of a rewording of a task, if it has one.

    Raises:
        PodiumError: it is one of another brief.
    """
    path = _place(task)
    if not path.is_file():
        return None
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if record["original"] != brief:
        raise PodiumError(
            f"{path} was made of another brief of {task}. Delete it to have the brief as Forge writes it."
        )
    return record


def _place(task: ForgeId) -> Path:
    return home() / "rewordings" / f"{task}.json"
