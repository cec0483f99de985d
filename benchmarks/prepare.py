"""How long it takes to lay out 10,000 pictures for agents: as Podium does it, as a plain copy, and as hard links.

`python benchmarks/prepare.py FOLDER` measures the file system that the folder lies on. Hard links are there for
comparison only: they carry the inode numbers and times of the raw files, and with them often the labels.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from podium.data.scrub_metadata import publish
from podium.safefs.atomic_files import link_tree

ROUNDS = 3


def copy(raw: Path, target: Path) -> None:
    shutil.copytree(raw, target, dirs_exist_ok=True)


def populate_workspace(raw: Path, target: Path) -> None:
    """What a preparation does: links, then public files."""
    made = target.with_name("made")
    link_tree(raw, made / "train")
    publish(made, target)


WAYS: dict[str, Callable[[Path, Path], None]] = {
    "plain copy": copy,
    "podium": populate_workspace,
    "hard links": link_tree,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="Where files are made, on the file system to be measured.")
    parser.add_argument("--pictures", type=int, default=10_000)
    parser.add_argument("--kilobytes", type=int, default=100, help="Size of a picture.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        top = Path(name)
        write_pictures(top / "raw", options.pictures, options.kilobytes * 1000)
        best: dict[str, tuple[float, float]] = {}
        for _ in range(ROUNDS):  # interleaved, so that a busy moment hits all of them
            for way, function in WAYS.items():
                found, known = measure(function, top), best.get(way, (float("inf"), float("inf")))
                best[way] = min(found[0], known[0]), min(found[1], known[1])
    for way, (computed, written) in best.items():
        factor = best["plain copy"][0] / computed, best["plain copy"][1] / written
        print(f"{way:12} CPU {computed:6.2f} s ({factor[0]:4.1f} x)   on disk {written:6.2f} s ({factor[1]:4.1f} x)")


def write_pictures(folder: Path, count: int, size: int) -> None:
    folder.mkdir()
    for number in range(count):
        (folder / f"{number:05d}.jpg").write_bytes(os.urandom(size))
    wait_for_disk(folder)


def measure(function: Callable[[Path, Path], None], top: Path) -> tuple[float, float]:
    """Seconds of computing, which other programs disturb less, and seconds until all is on the disk."""
    work = Path(tempfile.mkdtemp(dir=top))
    (work / "shown").mkdir()
    started, cpu = time.perf_counter(), time.process_time()
    function(top / "raw", work / "shown")
    computed = time.process_time() - cpu
    wait_for_disk(work)
    written = time.perf_counter() - started
    shutil.rmtree(work)
    wait_for_disk(top)
    return computed, written


def wait_for_disk(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    ctypes.CDLL(None).syncfs(descriptor)
    os.close(descriptor)


if __name__ == "__main__":
    main()
