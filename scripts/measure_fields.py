"""Measures the fields of the quick suite and stores them in the repository: `make fields`, or name some tasks."""

from __future__ import annotations

import argparse
import time

from podium.catalog.forge.families import load_family
from podium.catalog.forge.field import FIELDS, measure_field
from podium.catalog.forge.forge_ids import parse_id
from podium.catalog.forge.forged_task import QUICK
from podium.safefs.atomic_files import write_atomically


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", default=QUICK, help="forged tasks [default: those of the quick suite]")
    for task_id in parser.parse_args().tasks:
        parts = parse_id(task_id)
        started = time.perf_counter()
        field = measure_field(load_family(parts.family), parts.difficulty, parts.seed)
        write_atomically(FIELDS / f"{parts}.json", field.to_json())
        seconds = time.perf_counter() - started
        print(f"{parts}: {len(field.entrants)} entrants in {seconds:.0f} s, ceiling {field.ceiling}", flush=True)


if __name__ == "__main__":
    main()
