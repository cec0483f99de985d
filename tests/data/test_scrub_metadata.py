"""Public files tell names and content, and nothing of the raw files they were made from."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import numpy as np
import pytest

from podium.data.scrub_metadata import TIME_NS, publish
from podium.safefs.atomic_files import link_file

NAMES = [f"{number * 37 % 100:02d}.jpg" for number in range(100)]
"""In the order in which raw files are made: not that of the names."""


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    folder = tmp_path / "raw"
    folder.mkdir()
    for number, name in enumerate(NAMES):
        path = folder / name
        path.write_text(f"{number} {name}", encoding="utf-8")
        os.utime(path, ns=(number, number))
        path.chmod(0o600 if number < 50 else 0o755)
    return folder


@pytest.fixture
def shown(raw: Path, tmp_path: Path) -> Path:
    """What is shown of files that were linked in the order of the raw ones."""
    made, shown = tmp_path / "made", tmp_path / "shown"
    shown.mkdir()
    for name in NAMES:
        link_file(raw / name, made / "test" / name[0] / name)
        link_file(raw / name, made / name)
    old = os.umask(0o077)
    try:
        publish(made, shown)
    finally:
        os.umask(old)
    return shown


def test_every_file_has_its_content(raw: Path, shown: Path) -> None:
    for name in NAMES:
        assert (shown / "test" / name[0] / name).read_bytes() == (raw / name).read_bytes()
        assert (shown / name).read_bytes() == (raw / name).read_bytes()


def test_all_times_and_modes_are_one(shown: Path) -> None:
    facts = [(path.is_dir(), path.stat()) for path in [shown, *shown.rglob("*")]]
    assert {fact.st_mtime_ns for _, fact in facts} == {TIME_NS}
    assert {stat.S_IMODE(fact.st_mode) for is_folder, fact in facts if not is_folder} == {0o644}
    assert {stat.S_IMODE(path.stat().st_mode) for path in shown.rglob("*") if path.is_dir()} == {0o755}


@pytest.mark.parametrize("trace", ["st_ino", "st_ctime_ns", "listing"])
def test_no_trace_follows_the_order_of_raw_files(shown: Path, trace: str) -> None:
    listed = os.listdir(shown)  # noqa: PTH208 the order is what matters
    traces = [listed.index(name) if trace == "listing" else getattr((shown / name).stat(), trace) for name in NAMES]
    assert abs(np.corrcoef(np.argsort(np.argsort(traces)), np.arange(len(NAMES)))[0, 1]) < 0.3


def test_no_file_gets_the_inode_of_one_that_the_preparation_wrote(tmp_path: Path) -> None:
    """It would be that of the file copied just before, and tell which place that one had in the order of writing.

    Whether a file system reuses the number of a file at once is a matter of luck, so no file may be gone by then.
    """
    made, shown = tmp_path / "made", tmp_path / "shown"
    (made / "test").mkdir(parents=True)
    shown.mkdir()
    written = []
    for name in NAMES:
        (made / "test" / name).write_text(name, encoding="utf-8")
        written.append((made / "test" / name).stat().st_ino)
    publish(made, shown)
    assert [(made / "test" / name).stat().st_ino for name in NAMES] == written
    assert not {path.stat().st_ino for path in shown.rglob("*.jpg")}.intersection(written)


def test_nothing_is_shared_with_raw_files(raw: Path, shown: Path) -> None:
    assert {path.stat().st_nlink for path in shown.rglob("*.jpg")} == {1}
    before = {path: path.stat() for path in shown.rglob("*.jpg")}
    for name in NAMES:
        (raw / name).unlink()
    for path, facts in before.items():
        assert path.stat().st_ctime_ns == facts.st_ctime_ns


def test_what_a_preparation_wrote_into_the_top_folder_is_moved(tmp_path: Path) -> None:
    made, shown = tmp_path / "made", tmp_path / "shown"
    (made / "deep").mkdir(parents=True)
    shown.mkdir()
    numbers = {}
    for name in ("train.csv", "deep/notes.txt"):
        (made / name).write_text(name, encoding="utf-8")
        numbers[name] = (made / name).stat().st_ino
    publish(made, shown)
    assert (shown / "train.csv").stat().st_ino == numbers["train.csv"]
    assert (shown / "deep" / "notes.txt").stat().st_ino != numbers["deep/notes.txt"]


def test_a_symbolic_link_becomes_the_file_it_means(tmp_path: Path) -> None:
    made, shown = tmp_path / "made", tmp_path / "shown"
    made.mkdir()
    shown.mkdir()
    (tmp_path / "elsewhere.csv").write_text("x", encoding="utf-8")
    (made / "train.csv").symlink_to(tmp_path / "elsewhere.csv")
    publish(made, shown)
    assert not (shown / "train.csv").is_symlink()
    assert (shown / "train.csv").read_text(encoding="utf-8") == "x"
    assert (tmp_path / "elsewhere.csv").exists()
