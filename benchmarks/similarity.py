"""What comparing the scripts of runs with notebooks costs.

    python benchmarks/similarity.py [--runs 100] [--notebooks 50]

Every script is some 200 lines put together at random from the functions of Podium's own recipes, so that many have
passages in common. Reported: reading, comparing all pairs and finding the passages of similar ones.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

import podium
from podium.integrity.similarity import Document, find_similar

LINES = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--notebooks", type=int, default=50)
    options = parser.parse_args()
    rng, parts = random.Random(0), functions()
    scripts = [Document(f"run {number}", "script.py", script(parts, rng)) for number in range(options.runs)]
    notebooks = [Document(f"notebook {number}", "n.ipynb", script(parts, rng)) for number in range(options.notebooks)]
    find_similar(scripts[:2], notebooks[:2])  # what is imported counts for nothing
    before = time.perf_counter()
    found = find_similar(scripts, notebooks)
    took = time.perf_counter() - before
    pairs = options.runs * options.notebooks + options.runs * (options.runs - 1) // 2
    lines = sum(each.source.count("\n") for each in (*scripts, *notebooks))
    print(f"{pairs:,} pairs of {len(scripts) + len(notebooks)} scripts ({lines:,} lines): {took:.2f} s")
    print(f"{len(found):,} of them similar, with their passages")


def functions() -> list[str]:
    """Functions of recipes."""
    files = sorted((Path(podium.__file__).parent / "recipes").rglob("*.py"))
    found = [f"def {part}" for path in files for part in path.read_text(encoding="utf-8").split("\ndef ")[1:]]
    return [part for part in found if 5 <= part.count("\n") <= 60]


def script(parts: list[str], rng: random.Random) -> str:
    """A script of some functions."""
    chosen: list[str] = []
    while sum(part.count("\n") for part in chosen) < LINES:
        chosen.append(rng.choice(parts))
    return "\n".join(chosen)


if __name__ == "__main__":
    main()
