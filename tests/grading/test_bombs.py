"""Small files that unpack to huge ones, graded by a process that may not take much memory."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import toys
from toys import Toy, toy_task

from podium.metrics import accuracy
from podium.task import Columns, Task, Text

LIMIT = 32 << 20
GIB = 1 << 30
TOO_LONG = f"unpacks to more than {LIMIT:,} bytes, the maximum for this task."
BOMBS = {
    "zeros.csv.gz": TOO_LONG,
    "line.csv.gz": TOO_LONG,
    "quoted.csv.gz": TOO_LONG,
    "newlines.csv.gz": "has more than 300,000 lines",
    "short-rows.csv.gz": "row 1: the row has 2 cells; the header has 9002.",
    "sparse.csv": f"has {10 * GIB:,} bytes",
    "texts.parquet": TOO_LONG,
    "one-text.parquet": TOO_LONG,
}
CHILD = """
import json, resource, sys
from pathlib import Path
import podium
from test_bombs import task
memory = 3 << 30
resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
folder = Path(sys.argv[1])
grades = {path.name: podium.grade(task(), path, data_dir=folder / "data") for path in folder.glob("*.*")}
print(json.dumps({name: grade.error for name, grade in grades.items()}))
"""


def task() -> Task:
    form = Columns("id", "y", Text(), max_bytes=LIMIT)
    return toy_task(form, pd.DataFrame({"id": range(1000), "y": "a"}), metric=accuracy)


def packed(first: bytes, then: bytes) -> bytes:
    """A gzip file of a gigabyte, made by repeating one packed piece."""
    piece = gzip.compress(then * ((16 << 20) // len(then)), 1)
    return gzip.compress(first) + piece * (GIB >> 24)


def long_texts(*, one: bool) -> bytes:
    """A parquet file with a long text in each row, or with one that stands for every row."""
    import pyarrow as arrow
    from pyarrow import parquet

    if one:
        row = arrow.array([0] * 1000, arrow.int32())
        texts = arrow.DictionaryArray.from_arrays(row, arrow.array(["a" * 20_000_000]))
    else:
        texts = arrow.array([str(number).zfill(100_000) for number in range(1000)])
    buffer = io.BytesIO()
    table = arrow.table({"id": list(range(1000)), "y": texts})
    parquet.write_table(table, buffer, compression="zstd", use_dictionary=one)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def refusals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a grader with 3 GB of address space says to each bomb."""
    toy = Toy(task(), tmp_path_factory.mktemp("bombs"))
    toy.write(packed(b"id,y\n0,", b"\0"), "zeros.csv.gz")
    toy.write(packed(b"id,y\n0,", b"a"), "line.csv.gz")
    toy.write(packed(b'id,y\n0,"', b"a"), "quoted.csv.gz")
    toy.write(packed(b"id,y\n0,a\n", b"\n"), "newlines.csv.gz")
    toy.write(packed(b"id,y" + b"," * 9000 + b"\n", b"0,a\n"), "short-rows.csv.gz")
    toy.write(long_texts(one=False), "texts.parquet")
    toy.write(long_texts(one=True), "one-text.parquet")
    os.truncate(toy.write(b"id,y\n", "sparse.csv"), 10 * GIB)
    paths = os.pathsep.join([str(Path(toys.__file__).parent), *sys.path])
    child = subprocess.run(
        [sys.executable, "-c", CHILD, toy.folder],
        env={**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    errors: dict[str, str] = json.loads(child.stdout)
    return errors


@pytest.mark.parametrize(("name", "message"), BOMBS.items())
def test_bombs_do_not_go_off(refusals: dict[str, str], name: str, message: str) -> None:
    assert name in refusals[name]
    assert message in refusals[name]
