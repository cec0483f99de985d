"""Files that are not what they should be: each is refused at once, in few bytes of memory, with a reason."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import random
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from toys import Toy, toy_task

from podium.grading.read_submission import MAX_COMMAS, MAX_EXTRA_COLUMNS, MIN_PACKED_LIMIT_BYTES, MIN_SIZE_LIMIT_BYTES
from podium.metrics import accuracy
from podium.task import Columns, Text
from podium.text import plural

GIB = 1 << 30


class Evil:
    """Leaves a trace when somebody unpickles it."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.trace,)


def parquet(table: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    table.to_parquet(buffer, index=False)
    return buffer.getvalue()


def rows(*changes: tuple[int, str]) -> str:
    """The right submission with some of its lines replaced; line 0 is the header."""
    lines = ["id,y", *(f"{number},0.{number}" for number in range(1, 7))]
    for number, line in changes:
        lines[number] = line
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "content",
    [
        rows().rstrip("\n"),
        "\ufeff" + rows(),
        rows().replace("\n", "\r\n"),
        rows().replace("\n", "\r"),
        rows().replace("\n", "\n\n"),
        rows().replace("\n", "\n \t\n"),
        rows().replace(",", ', "').replace("\n", '"\n').replace(', "', ',"'),
        rows((0, "y,id"), *((n, f"0.{n},{n}") for n in range(1, 7))),
        rows((0, "id,y,,"), *((n, f"{n},0.{n},,") for n in range(1, 7))),
        rows((0, "id,y,x,x"), *((n, f'{n},0.{n},"a,b",c') for n in range(1, 7))),
        rows((0, 'id,y,"two\nlines"'), *((n, f'{n},0.{n},"a\n\nb"') for n in range(1, 7))),
        rows((0, "x" * 200_000 + ",id,y"), *((n, f"{'z' * 200_000},{n},0.{n}") for n in range(1, 7))),
    ],
    ids=[
        "no-last-newline",
        "bom",
        "crlf",
        "cr",
        "blank-lines",
        "spaces-only",
        "quoted",
        "swapped",
        "unnamed-columns",
        "twice-an-extra-column",
        "line-breaks-in-cells",
        "long-cells",
    ],
)
def test_every_style_of_csv_is_read(numbers: Toy, content: str) -> None:
    assert numbers.score(content) == 0


def test_packed_and_parquet_files_score_like_the_csv(numbers: Toy) -> None:
    csv = rows((3, "3,0.123456789"), (5, "5,-7e-3"))
    expected = numbers.score(csv)
    assert numbers.score(gzip.compress(csv.encode()), "submission.csv.gz") == expected
    assert numbers.score(parquet(pd.read_csv(io.StringIO(csv))), "submission.parquet") == expected
    assert numbers.score(parquet(pd.read_csv(io.StringIO(csv), dtype=str)), "submission.PQ") == expected
    assert numbers.score(parquet(pd.read_csv(io.StringIO(csv)).astype("category")), "submission.pq") == expected


def test_an_extra_column_with_a_name_of_its_own_costs_nothing(numbers: Toy) -> None:
    extra = [f"column{number}" for number in range(5000)]
    header = ",".join(["id", *extra, "y"])
    lines = [f"{number}{',' * 5001}0.{number}" for number in range(1, 7)]
    assert numbers.score("\n".join([header, *lines])) == 0


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("id,z", "Column 'y' is missing. Expected: 'id', 'y'; found: 'id', 'z'."),
        ("id", "Column 'y' is missing. Expected: 'id', 'y'; found: 'id'."),
        ("ID,Y", "Columns 'id', 'y' are missing. Expected: 'id', 'y'; found: 'ID', 'Y'."),
        (" id,y ", "Columns 'id', 'y' are missing. Expected: 'id', 'y'; found: ' id', 'y '."),
        ("id;y", "Columns 'id', 'y' are missing. Expected: 'id', 'y'; found: 'id;y'."),
        ("id\ty", "Columns 'id', 'y' are missing. Expected: 'id', 'y'; found: 'id\\ty'."),
        ("\ufeffid,y", "Column 'id' is missing. Expected: 'id', 'y'; found: '\\ufeffid', 'y'."),
        ("\x1b[31mid,y", "Column 'id' is missing. Expected: 'id', 'y'; found: '\\x1b[31mid', 'y'."),
        ("id,y,y", "Column 'y' is in the header more than once."),
        ("id,id,y,y", "Columns 'id', 'y' are in the header more than once."),
        (",", "Columns 'id', 'y' are missing. Expected: 'id', 'y'; found: '', ''."),
        ("1,0.1", "Columns 'id', 'y' are missing. Expected: 'id', 'y'; found: '1', '0.1'."),
    ],
)
def test_columns_at_fault_are_named(numbers: Toy, header: str, message: str) -> None:
    # A byte-order mark of its own lets the one in the header stand for itself.
    assert numbers.fault("\ufeff" + rows((0, header))) == message


def test_of_many_columns_a_few_are_named(numbers: Toy) -> None:
    found = numbers.fault(",".join(f"c{number}" for number in range(2000)) + "\n")
    assert "found: 'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', … 1992 more." in found
    assert "found: 'xxxxxxxxxx" in numbers.fault("x" * 100_000 + "\n")


def test_absurdly_many_columns_are_refused(numbers: Toy) -> None:
    header = "id,y" + "," * (MAX_EXTRA_COLUMNS + 1)
    assert numbers.fault(header + "\n1,0.1") == "The header has 10,003 columns; expected: 'id', 'y'."
    assert "longer than 1,048,576 bytes" in numbers.fault("id,y" + "," * 2_000_000)


def test_rows_with_quotes_may_hold_many_commas_but_not_any_number(tmp_path: Path) -> None:
    form = Columns("id", "y", Text())
    toy = Toy(toy_task(form, pd.DataFrame({"id": [1, 2], "y": "a"}), metric=accuracy), tmp_path)
    assert toy.score(f'id,y\n1,a\n2,"{"," * 900_000}"\n') == 0.5
    expected = f"submission.csv has a row with more than {MAX_COMMAS:,} commas, quoted or not."
    assert toy.fault('id,y\n1,"a"' + "," * 1_000_000) == expected
    assert toy.fault("id,y\n1" + ("," * 100 + '"\n"') * 20_000) == expected


def test_unexpected_columns_are_refused_if_the_form_requires(tmp_path: Path) -> None:
    form = Columns("id", "y", float, extra_columns=False)
    toy = Toy(toy_task(form, pd.DataFrame({"id": [1], "y": [0.5]})), tmp_path)
    assert toy.fault("id,y,z\n1,0.5,2\n") == "Column 'z' is not expected. Expected: 'id', 'y'."
    assert toy.fault("id,y,z,,\n1,0.5,2,,\n") == "Columns 'z', '' are not expected. Expected: 'id', 'y'."


@pytest.mark.parametrize("content", ["\n", "   \n1,2\n", "\r\n\r\n", "\ufeff\n", "\n" + rows()])
def test_a_blank_header_is_named(numbers: Toy, content: str) -> None:
    assert numbers.fault(content) == "submission.csv has no header: its first line is blank."


@pytest.mark.parametrize("content", ["id,y", "id,y\n", "id,y\r\n\r\n", '"id","y"\n'])
def test_a_header_alone_is_not_enough(numbers: Toy, content: str) -> None:
    assert numbers.fault(content) == "submission.csv has a header but no rows; 6 rows are expected."


@pytest.mark.parametrize(
    ("line", "cells"), [("3", 1), ("3,0.3,", 3), ("3,0,3", 3), ('3,0.3,"a,b"', 3), ('"3,0.3"', 1), ("3;0.3", 1)]
)
def test_a_row_longer_or_shorter_than_the_header_is_named(numbers: Toy, line: str, cells: int) -> None:
    expected = f"submission.csv, row 3: the row has {plural(cells, 'cell')}; the header has 2."
    assert numbers.fault(rows((3, line))) == expected


def test_rows_are_counted_without_blank_lines_and_by_record(numbers: Toy) -> None:
    content = rows((0, "id,y,z"), (1, '1,0.1,"a\nb"'), (2, "\n2,0.2,c"))
    assert "row 3: the row has 2 cells" in numbers.fault(content)


def test_a_quote_that_is_never_closed_is_named(numbers: Toy) -> None:
    assert numbers.fault(rows((3, '3,"0.3'))) == (
        "submission.csv is not a well-formed CSV: EOF inside string starting at row 3."
    )


def test_far_too_many_rows_are_refused_without_reading_them_all(numbers: Toy) -> None:
    content = rows() + "".join(f"{number},0\n" for number in range(7, 5000)) + "this is never read"
    assert numbers.fault(content) == "submission.csv has more than 1,012 rows; 6 are expected."


def test_endless_lines_are_refused(numbers: Toy) -> None:
    assert "has more than 101,200 lines" in numbers.fault(rows() + "\n" * 200_000)
    assert "has more than 101,200 lines" in numbers.fault(rows((6, '6,"' + "\n" * 200_000)))


def other_files() -> dict[str, tuple[bytes, str]]:
    picture, archive, array, nested = io.BytesIO(), io.BytesIO(), io.BytesIO(), io.BytesIO()
    Image.new("RGB", (4, 4)).save(picture, "PNG")
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("submission.csv", rows())
    np.save(array, np.zeros(3))
    with gzip.open(nested, "wb") as packed:
        packed.write(rows().encode())
    table = pd.DataFrame({"id": [1], "y": [0.5]})
    return {
        "zip": (archive.getvalue(), "is a ZIP archive or an Excel sheet; a CSV file is expected."),
        "png": (picture.getvalue(), "is an image; a CSV file is expected."),
        "npy": (array.getvalue(), "is a NumPy array; a CSV file is expected."),
        "gzip": (nested.getvalue(), "is a gzip file named as something else; a CSV file is expected."),
        "parquet": (parquet(table), "is a parquet file named as something else; a CSV file is expected."),
        "pdf": (b"%PDF-1.7\n", "is a PDF; a CSV file is expected."),
        **{
            f"pickle-{protocol}": (pickle.dumps(table, protocol), "is a pickle; a CSV file is expected.")
            for protocol in (3, 4, 5)
        },
        "utf-16": (rows().encode("utf-16"), "is encoded as UTF-16; write it as UTF-8."),
        "utf-16-be": (b"\xfe\xff" + rows().encode("utf-16-be"), "is encoded as UTF-16; write it as UTF-8."),
        "utf-16-bare": (rows().encode("utf-16-le"), "Columns 'id', 'y' are missing."),
        "utf-32-bare": (rows().encode("utf-32-be"), "Columns 'id', 'y' are missing."),
        "latin-1": ("ïd,y\n".encode("latin-1"), "is not a CSV in UTF-8: its header cannot be read"),
        "noise": (random.Random(0).randbytes(5000), "is not a CSV in UTF-8: its header cannot be read"),
        "zeros": (bytes(5000), "Columns 'id', 'y' are missing."),
        "long-line": (b"a" * (2 << 20), "is not a CSV: its first line is longer than 1,048,576 bytes."),
        "html": (b"<!DOCTYPE html>\n<html>", "Columns 'id', 'y' are missing."),
        "json": (b'[{"id": 1, "y": 0.5}]', "Columns 'id', 'y' are missing."),
    }


@pytest.mark.parametrize("kind", other_files())
def test_file_kind_is_named_if_not_csv(numbers: Toy, kind: str) -> None:
    content, message = other_files()[kind]
    assert message in numbers.fault(content)


@pytest.mark.parametrize("line", ["4,0.4\0", "4\0,0.4", "4,\0", '4,"\0"', "\0,0.4"])
def test_a_zero_byte_is_found_wherever_it_is(numbers: Toy, line: str) -> None:
    assert "line 5 has a zero byte" in numbers.fault(rows((4, line)))
    assert "line 5 has a zero byte" in numbers.fault(rows((2, '"2",0.2'), (4, line)))


def test_a_zero_byte_deep_inside_cuts_no_cell_short(tmp_path: Path) -> None:
    answers = pd.DataFrame({"id": range(40_000), "y": 0.5})
    toy = Toy(toy_task(Columns("id", "y", float), answers), tmp_path)
    assert "line 30002 has a zero byte" in toy.fault(toy.sample.replace("\n30000,0.5\n", "\n30000,0.5\0x\n"))


def test_a_byte_that_is_not_utf_8_is_found_deep_inside(numbers: Toy) -> None:
    assert numbers.fault(rows((5, "5,é")).encode("latin-1")) == (
        "submission.csv is not encoded as UTF-8: byte 0xe9 in line 6. Write it as UTF-8."
    )
    padding = [f"{number},{'x' * 1000}" for number in range(1000)]
    content = "\n".join(["id,y", *padding, "1,é"]).encode("latin-1")
    assert "byte 0xe9 in line 1002" in numbers.fault(content)
    assert "byte 0xe9 in line 1002" in numbers.fault(gzip.compress(content), "submission.csv.gz")


def test_an_empty_file_is_named(numbers: Toy) -> None:
    assert numbers.fault(b"") == "submission.csv is empty (0 bytes)."
    assert "has no header" in numbers.fault(gzip.compress(b""), "submission.csv.gz")


def test_a_missing_file_is_named(numbers: Toy, tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "submission.csv"
    assert numbers.fault_of(path) == f"There is no submission at {path} (No such file or directory)."
    assert "(embedded null byte)" in numbers.fault_of(tmp_path / "a\0b.csv")
    assert "(File name too long)" in numbers.fault_of(tmp_path / ("x" * 300))


def test_a_file_is_named_in_print(numbers: Toy) -> None:
    assert numbers.fault(b"", "a\nb\x1b.csv") == "a\\nb\\x1b.csv is empty (0 bytes)."
    assert numbers.fault(b"", os.fsdecode(b"\xff.csv")) == "\\udcff.csv is empty (0 bytes)."


def test_a_folder_is_no_submission(numbers: Toy, tmp_path: Path) -> None:
    folder = tmp_path / "submission.csv"
    folder.mkdir()
    assert numbers.fault_of(folder) == "submission.csv is a folder; the submission must be a file."


def test_a_pipe_or_device_is_not_waited_for(numbers: Toy, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "submission.csv")
    message = "{} is not a regular file (a pipe or device)."
    assert numbers.fault_of(tmp_path / "submission.csv") == message.format("submission.csv")
    assert numbers.fault_of(Path("/dev/zero")) == message.format("zero")


def test_links_are_followed_unless_they_go_in_circles(numbers: Toy, tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(numbers.write(rows()))
    assert numbers.grade_file(tmp_path / "link.csv").score == 0
    (tmp_path / "round.csv").symlink_to(tmp_path / "round.csv")
    assert "(Too many levels of symbolic links)" in numbers.fault_of(tmp_path / "round.csv")


def test_a_link_to_the_answers_is_refused_though_a_person_may_name_them(numbers: Toy, tmp_path: Path) -> None:
    answers = numbers.data_dir / "toy" / "private" / "test.csv"
    (tmp_path / "link.csv").symlink_to(answers)
    expected = "link.csv is a link to prepared answers; a regular file is expected."
    assert numbers.fault_of(tmp_path / "link.csv") == expected
    assert numbers.grade_file(answers).score == 0


def test_a_file_that_may_not_be_read_is_named(numbers: Toy) -> None:
    unreadable = next(Path("/sys/bus").glob("*/drivers_probe"), None)  # even for root
    if unreadable is None:
        pytest.skip("no file here that root may not read")
    assert numbers.fault_of(unreadable) == "drivers_probe cannot be read (Permission denied)."


def test_ten_gigabytes_are_refused_at_once(numbers: Toy) -> None:
    path = numbers.write("id,y\n")
    os.truncate(path, 10 * GIB)
    expected = f"submission.csv has {10 * GIB:,} bytes; at most {MIN_SIZE_LIMIT_BYTES:,} are read for this task."
    assert numbers.fault_of(path) == expected


def test_millions_of_empty_gzip_members_are_refused_at_once(numbers: Toy) -> None:
    content = gzip.compress(rows().encode()) + gzip.compress(b"") * (MIN_PACKED_LIMIT_BYTES // 20)
    expected = f"submission.csv.gz has {len(content):,} bytes; at most {MIN_PACKED_LIMIT_BYTES:,} are read"
    assert expected in numbers.fault(content, "submission.csv.gz")


@pytest.mark.parametrize("name", ["submission.csv.gz", "submission.GZ"])
def test_a_damaged_gzip_is_named(numbers: Toy, name: str) -> None:
    packed = gzip.compress(b"id,y\n" + random.Random(0).randbytes(20_000).hex().encode())
    flipped = bytearray(packed)
    flipped[-6] ^= 0xFF
    for content in (packed[:-2000], packed[:15], bytes(flipped), rows().encode(), b"\x1f\x8b\x08garbage"):
        assert f"{name} is not a readable gzip file: " in numbers.fault(content, name)


def test_a_damaged_parquet_is_named(numbers: Toy) -> None:
    whole = parquet(pd.DataFrame({"id": range(1, 7), "y": 0.5}))
    damaged = [whole[: len(whole) // 2], whole[:-9], b"PAR1", b"PAR1" * 10, rows().encode(), whole[:4] + whole[20:]]
    for content in damaged:
        assert "submission.parquet is not a readable parquet file: " in numbers.fault(content, "submission.parquet")


def test_flipped_bytes_in_a_parquet_never_escape(numbers: Toy) -> None:
    whole = parquet(pd.DataFrame({"id": range(1, 7), "y": [str(number) for number in range(6)]}))
    for place in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        grade = numbers.grade_file(numbers.write(bytes(damaged), "submission.parquet"))
        assert grade.valid or grade.error


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([[1], [2]], "list<element: int64>"),
        ([{"a": 1}, {"a": 2}], "struct<a: int64>"),
        ([b"1", b"2"], "binary"),
        (pd.to_datetime(["2020", "2021"]), "timestamp[ns]"),
        ([None, None], "null"),
    ],
)
def test_parquet_columns_hold_plain_values(numbers: Toy, values: object, kind: str) -> None:
    content = parquet(pd.DataFrame({"id": [1, 2], "y": values}))
    message = f"Column 'y' holds {kind} values; numbers or strings are expected."
    assert numbers.fault(content, "submission.parquet") == message


@pytest.mark.parametrize("lie", ["of the file", "of a column", "of a part"])
def test_parquet_with_wrong_row_counts_is_refused(numbers: Toy, lie: str) -> None:
    """In the footer a count is a zigzag varint: 700 rows are written as 1400, which here becomes 6."""
    content = parquet(pd.DataFrame({"id": range(700), "y": 0.5}))
    pieces = content.split(b"\x16\xf8\x0a")
    assert len(pieces) == 5, "the file, two columns and the row group each say how many rows they have"
    place = {"of the file": 0, "of a column": 2, "of a part": 3}[lie]
    marks = [b"\x16\xf8\x0a"] * 4
    marks[place] = b"\x16\x86\x00"
    forged = b"".join(piece + mark for piece, mark in zip(pieces, [*marks, b""], strict=True))
    assert "is damaged: its row groups do not add up to its" in numbers.fault(forged, "submission.parquet")


def test_nested_parquet_columns_do_no_harm_beside_the_expected_ones(numbers: Toy) -> None:
    table = pd.DataFrame({"id": range(1, 7), "y": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "x": [[1]] * 6})
    assert numbers.score(parquet(table), "submission.parquet") == 0


def test_nulls_in_a_parquet_are_blank(numbers: Toy, tmp_path: Path) -> None:
    blank = "Column 'y', row 2 (id 2): the cell is blank; a number is expected."
    for values in ([0.5, None], ["0.5", None], pd.Categorical(["0.5", None]), pd.array([1, None], dtype="Int64")):
        table = pd.DataFrame({"id": [1, 2], "y": values})
        table = pd.concat([table, pd.DataFrame({"id": range(3, 7), "y": table["y"].iloc[:1].repeat(4)})])
        assert numbers.fault(parquet(table), "submission.parquet") == blank


@pytest.mark.parametrize("name", ["submission.csv", "submission.parquet", "submission.csv.gz", "submission.pkl"])
def test_nothing_is_ever_unpickled(numbers: Toy, tmp_path: Path, name: str) -> None:
    trace = tmp_path / "trace"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        numbers.fault(pickle.dumps(Evil(trace), protocol), name)
    numbers.fault(gzip.compress(pickle.dumps(Evil(trace))), "submission.csv.gz")
    assert not trace.exists()
    pickle.loads(pickle.dumps(Evil(trace)))
    assert trace.exists()
