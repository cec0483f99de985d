"""Tasks whose preparation can be watched, stopped and killed at a known stage; run as a program it prepares one."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from podium.data.prepare import prepare_task
from podium.metrics import rmse
from podium.safefs.atomic_files import link_tree
from podium.task import Columns, Prepare, Task


def make_task(prepare: Prepare, **facts: Any) -> Task:
    form = Columns("id", "y", float)
    task = Task(id="toy", title="Toy", kind="tabular", metric=rmse, submission=form, brief="Guess.", **facts)
    task.prepare(prepare)
    return task


def write_tables(public: Path, private: Path) -> None:
    for folder in (public, private):
        (folder / "deep").mkdir()
        (folder / "deep" / "notes.txt").write_text("more\n", encoding="utf-8")
    (public / "sample_submission.csv").write_text("id,y\n1,0\n", encoding="utf-8")
    (private / "test.csv").write_text("id,y\n1,1\n", encoding="utf-8")


def whole(raw: Path, public: Path, private: Path) -> None:
    write_tables(public, private)


def slowly(raw: Path, public: Path, private: Path) -> None:
    """Says that it was called and takes its time."""
    with (public.parents[2] / "calls").open("a", encoding="utf-8") as log:
        log.write(f"{os.getpid()}\n")
    time.sleep(0.3)
    write_tables(public, private)


def halfway(raw: Path, public: Path, private: Path) -> None:
    """Writes half of the data and never ends."""
    (public / "sample_submission.csv").write_text("id,y\n", encoding="utf-8")
    (public.parents[2] / "started").touch()
    time.sleep(600)


def huge(raw: Path, public: Path, private: Path) -> None:
    """Writes everything, but so much that checksums take minutes."""
    write_tables(public, private)
    with (public / "zeros.bin").open("wb") as file:
        file.truncate(200 << 30)


def from_raw(raw: Path, public: Path, private: Path) -> None:
    """Links the whole raw folder."""
    link_tree(raw, public / "raw")
    write_tables(public, private)


def fabricate(raw: Path, rng: object) -> None:
    (raw / "images").mkdir()
    (raw / "images" / "1.png").write_bytes(b"tiny")
    (raw / "train.csv").write_text("id,y\n1,1\n", encoding="utf-8")


def raw_task() -> Task:
    """A task that needs raw data, in two editions."""
    task = make_task(from_raw, fabricator=fabricate)
    task.fixed("It leaked.")
    return task


STAGES = {
    **{each.__name__: make_task(each, generated=True) for each in (whole, slowly, halfway, huge)},
    "raw": raw_task(),
}

if __name__ == "__main__":
    stage, data_dir, edition, miniature = sys.argv[1:]
    done = prepare_task(STAGES[stage], data_dir=Path(data_dir), edition=edition, miniature=miniature == "miniature")  # type: ignore[arg-type]
    print(done.status)
