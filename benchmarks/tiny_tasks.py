"""How long it takes to prepare a tiny task of every family that has them: its data, its field and its files.

    python benchmarks/tiny_tasks.py [--tasks 5]

Milliseconds of computing, which other programs disturb less than the clock: the median and the most of some tasks,
after one that pays for imports (though not for those of layouts that only some tasks have). Target: under 100 ms. Files
are made in $TMPDIR: if its file system is slow to create them, TMPDIR=/dev/shm says what tasks with pictures cost else.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import podium
from podium.catalog.forge.families import FAMILIES, load_family
from podium.catalog.forge.forge_ids import forge_id


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=5)
    options = parser.parse_args()
    for family in [name for name in FAMILIES if load_family(name).tiny]:
        measure(family, 0)
        took = [measure(family, seed) for seed in range(1, 1 + options.tasks)]
        print(f"{family:24} median {statistics.median(took):4.0f} ms, most {max(took):4.0f} ms")


def measure(family: str, seed: int) -> float:
    """Milliseconds of computing for one task."""
    task = podium.load(str(forge_id(family, "tiny", seed, training=True)))
    with tempfile.TemporaryDirectory() as folder:
        started = time.process_time()
        podium.prepare(task, data_dir=Path(folder))
        return 1000 * (time.process_time() - started)


if __name__ == "__main__":
    main()
