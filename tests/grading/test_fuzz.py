"""Malformed submissions by the thousand: never a traceback, always a message that says where the fault is."""

from __future__ import annotations

import gzip
import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toys import Toy, toy_task

import podium
from podium.catalog.forge.families import load_family
from podium.catalog.forge.field import draw_data, stored_field
from podium.catalog.forge.forge_ids import parse_id
from podium.metrics import accuracy, mae, rle_dice, rmse
from podium.task import Columns, Integer, Number, Task, Text

Draw = Callable[[st.SearchStrategy[int]], int]
Mutation = Callable[[bytes, Draw], bytes]

EXAMPLES, MANY_EXAMPLES = 300, 10_000
QUICK = podium.tasks("quick") or ["forge-tabular-classification-medium-101"]
PLACE = re.compile(r"\b(columns?|rows?|line|ids?)\b|submission\.", re.IGNORECASE)
NAMES = ["submission.csv"] * 6 + ["submission.csv.gz", "submission.parquet", "submission.txt"]

CELLS = [
    *(
        "",
        " ",
        "nan",
        "NA",
        "None",
        "null",
        "inf",
        "-Infinity",
        "1e400",
        "-1e-400",
        "1e2147483648",
        "4e492493924924",
        "9" * 400,
        "0." + "3" * 400,
    ),
    *("1_000", "1 000", "0x1F", "１", "٣", "−1", "½", "1e", "--1", "1.0.0", "True", "T", "yes", "2", "-1", "0.5"),
    *("=1+1", "'", '"', '""', '"x', 'x"', '"x"y', "\\", "\\N", "\t", "\r", "\n", "\x0b", "\x1b[2J", "\0", "a\0b"),
    *("\x85", "\u2028", "\ufeff", "\u200b", "💥", "e\u0301", "ǅ", "\ue000", "x" * 5000, "[1, 2]", "1 2 3", "%s%n"),
    *("../../../etc/passwd", "<b>", "; DROP TABLE", "7.0", "007", " 7", "1;2", "1,5", '"1,5"', "0,0,0,0", "id", "{}"),
]
FILES = [
    *(b"", b"\n", b"\0", b"\xff", b"\xef\xbb\xbf", b",", b'"', b"id,y", b"id,y\n", b"id,y\n,\n", b"\r", b"PAR1"),
    *(b"\x1f\x8b", b"\x1f\x8b\x08\0\0\0\0\0\0\xff", b"\x89PNG\r\n\x1a\n", b"\x93NUMPY", b"%PDF-1.7", b"PAR1PAR1"),
    *(pickle.dumps({"id": [1]}), b"[]", b"{}", b"<html>", b"\xff\xfei\0d\0", b"PK\3\4"),
    *(b"a" * 100_000, b"," * 100_000, b"\n" * 5000),
]
ENCODINGS = ["utf-16", "utf-16-le", "utf-32", "latin-1", "cp037", "utf-8-sig", "utf-7"]


def pick(draw: Draw, count: int) -> int:
    return draw(st.integers(0, max(0, count - 1)))


def change_line(content: bytes, draw: Draw, change: Callable[[list[bytes], int], None]) -> bytes:
    lines = content.split(b"\n")
    change(lines, pick(draw, len(lines)))
    return b"\n".join(lines)


def change_cell(content: bytes, draw: Draw, change: Callable[[list[bytes], int], None]) -> bytes:
    def change_one(lines: list[bytes], line: int) -> None:
        cells = lines[line].split(b",")
        change(cells, pick(draw, len(cells)))
        lines[line] = b",".join(cells)

    return change_line(content, draw, change_one)


def change_column(content: bytes, draw: Draw, change: Callable[[list[bytes], int], None]) -> bytes:
    place = pick(draw, content.split(b"\n")[0].count(b",") + 1)
    rows = [line.split(b",") for line in content.split(b"\n")]
    for cells in rows:
        if place < len(cells):
            change(cells, place)
    return b"\n".join(b",".join(cells) for cells in rows)


def nasty_cell(content: bytes, draw: Draw) -> bytes:
    text = CELLS[pick(draw, len(CELLS))].encode()
    return change_cell(content, draw, lambda cells, place: cells.__setitem__(place, text))


def nasty_column(content: bytes, draw: Draw) -> bytes:
    text = CELLS[pick(draw, len(CELLS))].encode()
    return change_column(content, draw, lambda cells, place: cells.__setitem__(place, text))


def nasty_header(content: bytes, draw: Draw) -> bytes:
    header, newline, rest = content.partition(b"\n")
    return nasty_cell(header, draw) + newline + rest


def flip_byte(content: bytes, draw: Draw) -> bytes:
    place = pick(draw, len(content))
    return content[:place] + bytes([draw(st.integers(0, 255))]) + content[place + 1 :]


def insert_bytes(content: bytes, draw: Draw) -> bytes:
    place = pick(draw, len(content))
    return content[:place] + FILES[pick(draw, len(FILES))] + content[place:]


def encode_anew(content: bytes, draw: Draw) -> bytes:
    encoding = ENCODINGS[pick(draw, len(ENCODINGS))]
    return content.decode("utf-8", "replace").encode(encoding, "replace")


MUTATIONS: list[Mutation] = [
    nasty_cell,
    nasty_cell,
    nasty_column,
    nasty_header,
    flip_byte,
    insert_bytes,
    encode_anew,
    lambda content, draw: content[: pick(draw, len(content))],
    lambda content, draw: content[pick(draw, len(content)) :],
    lambda content, draw: content + content[pick(draw, len(content)) :],
    lambda content, draw: FILES[pick(draw, len(FILES))],
    lambda content, draw: change_line(content, draw, lambda lines, place: lines.pop(place)),
    lambda content, draw: change_line(content, draw, lambda lines, place: lines.insert(place, lines[place])),
    lambda content, draw: change_line(content, draw, lambda lines, place: lines.insert(place, lines.pop())),
    lambda content, draw: change_cell(content, draw, lambda cells, place: cells.pop(place)),
    lambda content, draw: change_cell(content, draw, lambda cells, place: cells.insert(place, cells[place])),
    lambda content, draw: change_column(content, draw, lambda cells, place: cells.pop(place)),
    lambda content, draw: change_column(content, draw, lambda cells, place: cells.insert(place, cells[place])),
    lambda content, draw: change_column(content, draw, lambda cells, place: cells.reverse()),
    lambda content, draw: content.replace(b",", [b";", b"\t", b", ", b",,", b"|"][pick(draw, 5)]),
    lambda content, draw: content.replace(b"\n", [b"\r\n", b"\r", b"\n\n", b"\\n", b"\0"][pick(draw, 5)]),
    lambda content, draw: content.replace(b".", b","),
    lambda content, draw: gzip.compress(content)[: pick(draw, 300) or None],
]


def check(toy: Toy, path: Path) -> None:
    """Whatever the file holds, there is a result, and a fault has a place."""
    grade, validation = toy.grade_file(path), toy.validate_file(path)
    json.dumps([grade.to_dict(), validation.to_dict()], allow_nan=False)
    if grade.valid:
        assert validation.valid
        assert grade.score is not None
    else:
        assert grade.error is not None
        assert PLACE.search(grade.error), grade.error
        assert grade.error.isprintable()
        assert len(grade.error) < 1000
    if not validation.valid:
        assert grade.error == validation.error


def fuzz(toy: Toy, examples: int) -> None:
    sample = toy.sample.encode()

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def look_for_trouble(data: st.DataObject) -> None:
        content = sample
        for mutate in data.draw(st.lists(st.sampled_from(MUTATIONS), min_size=1, max_size=3)):
            content = mutate(content, data.draw)
        name = data.draw(st.sampled_from(NAMES))
        packed = name.endswith(".gz") and data.draw(st.booleans())
        check(toy, toy.write(gzip.compress(content) if packed else content, name))

    look_for_trouble()


def forged(task_id: str) -> Task:
    """What grading needs of a forged task; a field that was not measured is made up."""
    parts = parse_id(task_id)
    family = load_family(parts.family)
    forged = draw_data(family, parts.difficulty, parts.seed)
    made_up = json.dumps({"lower_is_better": not family.metric.higher_is_better, "scores": [0.75, 0.5, 0.25]})
    return toy_task(
        podium.load(task_id).submission,
        forged.answers,
        sample=forged.sample,
        metric=family.metric,
        leaderboard=stored_field(parts) or made_up,
    )


def small_tasks() -> dict[str, Task]:
    numbers = pd.DataFrame({"id": range(1, 7), "y": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]})
    texts = pd.DataFrame({"id": list("abc"), "y": ["p", "q", "p"]})
    shares = pd.DataFrame({"id": ["a1", "a2"], "p": [0.5, 0.1], "q": [0.5, 0.9]})
    pairs = pd.DataFrame({"user": ["u", "u", "v"], "day": [1, 2, 1], "n": [1, 2, 3], "t": ["", "x, y", "é"]})
    repeated = pd.DataFrame({"id": ["a", "a", "b"], "y": [1, 2, 3]})
    return {
        "numbers": toy_task(Columns("id", "y", Number()), numbers, metric=rmse),
        "flags": toy_task(Columns("id", "y", bool), numbers.assign(y=numbers["id"] > 3), metric=accuracy),
        "choices": toy_task(Columns("id", "y", Text(blank=False, choices=("p", "q"))), texts, metric=accuracy),
        "shares": toy_task(Columns("id", ("p", "q"), Number(0, 1), row_total=1.0), shares, metric=mae),
        "pairs": toy_task(
            Columns(("user", "day"), ("n", "t"), {"n": Integer(0), "t": Text()}, extra_columns=False),
            pairs,
            metric=accuracy,
        ),
        "masks": toy_task(Columns("id", "y", Text()), texts.assign(y=["1 2 4 5", "", "7 3"]), metric=rle_dice),
        "repeated": toy_task(Columns("id", "y", int), repeated, metric=mae),
    }


@pytest.mark.parametrize("name", small_tasks())
def test_every_fault_message_names_the_location(name: str, tmp_path: Path) -> None:
    fuzz(Toy(small_tasks()[name], tmp_path), EXAMPLES // len(small_tasks()))


@pytest.mark.slow
@pytest.mark.parametrize("task_id", QUICK)
def test_ten_thousand_fault_messages_name_the_location(task_id: str, tmp_path: Path) -> None:
    fuzz(Toy(forged(task_id), tmp_path), MANY_EXAMPLES // len(QUICK))
