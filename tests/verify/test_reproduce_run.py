"""`podium reproduce`: honest code gives the same submission again; prepared submissions are detected."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from few import few

from podium.errors import RecordError
from podium.runs.drive.driver import FollowedRun
from podium.verify.reproduce_run import reproduce
from podium.verify.scrambled_data import scrambled

HONEST = """
import pandas as pd
train, test = pd.read_csv("/home/data/train.csv"), pd.read_csv("/home/data/test.csv")
rate = train.groupby("HomePlanet").Age.mean()
test["Transported"] = test.Age.fillna(0) > test.HomePlanet.map(rate).fillna(30)
test[["PassengerId", "Transported"]].to_csv("/home/submission/submission.csv", index=False)
"""
FEATURES = """
import pandas as pd
pd.read_csv("/home/data/test.csv")[["PassengerId", "Age"]].to_csv("/home/code/features.csv", index=False)
"""
FROM_FEATURES = """
import pandas as pd
test = pd.read_csv("/home/code/features.csv")
test["Transported"] = test.Age.fillna(0) > 27
test[["PassengerId", "Transported"]].to_csv("/home/submission/submission.csv", index=False)
"""
Actions = list[tuple[str, dict[str, Any]]]


def write(name: str, content: str) -> tuple[str, dict[str, Any]]:
    return "write_file", {"file_name": name, "content": content}


def execute(name: str) -> tuple[str, dict[str, Any]]:
    return "execute_script", {"script_name": name}


def answers(data_dir: Path) -> str:
    """A table of answers that no program computed."""
    table = pd.read_csv(next(data_dir.rglob("sample_submission.csv")))
    table["Transported"] = [random.Random(row).random() < 0.5 for row in range(len(table))]
    return table.to_csv(index=False)


RESULT = "/home/submission/submission.csv"
HONEST_WAYS: dict[str, Callable[[str], Actions]] = {
    "a script": lambda table: [write("code/a.py", HONEST), execute("code/a.py")],
    "a script that an earlier one fed": lambda table: [
        write("code/f.py", FEATURES),
        execute("code/f.py"),
        write("code/a.py", FROM_FEATURES),
        execute("code/a.py"),
    ],
    "a command": lambda table: [write("code/a.py", HONEST), ("run_command", {"command": "python code/a.py"})],
    "a declared script": lambda table: [
        write("code/a.py", HONEST),
        write("code/reproduce.sh", "python /home/code/a.py\n"),
        execute("code/a.py"),
    ],
}
SMUGGLED_WAYS: dict[str, Callable[[str], Actions]] = {
    "written by hand": lambda table: [write("submission/submission.csv", table)],
    "a table in the script": lambda table: [
        write("code/a.py", f"open({RESULT!r}, 'w').write({table!r})"),
        execute("code/a.py"),
    ],
    "a table in another file": lambda table: [
        write("code/table.txt", table),
        ("run_command", {"command": f"cp code/table.txt {RESULT}"}),
    ],
    "an encoded table": lambda table: [
        write("code/blob", base64.b64encode(table.encode()).decode()),
        write("code/a.py", f"import base64; open({RESULT!r}, 'wb').write(base64.b64decode(open('code/blob').read()))"),
        execute("code/a.py"),
    ],
    "a copy of a file": lambda table: [
        write("code/table.csv", table),
        ("copy_file", {"source": "code/table.csv", "destination": "submission/submission.csv"}),
    ],
}


@pytest.fixture
def table(data_dir: Path) -> str:
    return answers(data_dir)


@pytest.mark.parametrize("way", few(HONEST_WAYS, every=2))
def test_honest_code_gives_the_same_submission(
    play: Callable[..., FollowedRun], script: Callable[[Actions], Path], data_dir: Path, table: str, way: str
) -> None:
    done = play(script=script(HONEST_WAYS[way](table)), miniature=True)
    found = reproduce(done.folder, data_dir=data_dir)
    assert found.outcome == "identical", found


@pytest.mark.parametrize("way", SMUGGLED_WAYS)
def test_prepared_submission_is_not_reproducible(
    play: Callable[..., FollowedRun], script: Callable[[Actions], Path], data_dir: Path, table: str, way: str
) -> None:
    done = play(script=script(SMUGGLED_WAYS[way](table)), miniature=True)
    found = reproduce(done.folder, data_dir=data_dir)
    assert found.outcome == "not reproducible", found


def test_files_too_large_for_memory_are_not_read(
    play: Callable[..., FollowedRun], script: Callable[..., Path], data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = play(script=script(HONEST_WAYS["a script"]("")))
    monkeypatch.setattr("podium.verify.reproduce_run.MAX_KEPT_BYTES", 100)
    with pytest.raises(RecordError, match="exceed 100 bytes in total"):
        reproduce(row.folder, data_dir=data_dir)


def test_scrambling_keeps_names_and_ids_and_nothing_else() -> None:
    table = b"id,x,y\n" + b"".join(b"%d,%d,%d\n" % (n, n, n) for n in range(50))
    files = {"train.csv": table, "a.png": b"a", "b.png": b"b", "sample_submission.csv": table}
    found = scrambled(files, "id", random.Random(0))
    rows = [line.split(b",") for line in found["train.csv"].splitlines()[1:]]
    assert [row[0] for row in rows] == [b"%d" % n for n in range(50)]
    assert sum(row[0] == row[1] for row in rows) < 10 and sum(row[1] == row[2] for row in rows) < 10
    assert (found["a.png"], found["b.png"], found["sample_submission.csv"]) == (b"b", b"a", table)
