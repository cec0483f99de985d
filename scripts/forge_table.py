"""Measures fresh seeds of every family and writes the table of docs/forge.md.

    python scripts/forge_table.py [--seeds 5] [--first-seed 1] [FAMILY ...]

For each task: what the sample submission and scikit-learn's defaults get, where the medals lie, what the best entrant
and the true mechanism score, and whether a second forging gives the same bytes. Seeds measured before are kept.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from podium.catalog.forge import forge_id
from podium.catalog.forge.families import FAMILIES, load_family
from podium.catalog.forge.field import draw_data, measure_field, run_pipeline
from podium.catalog.forge.forged_data import write_public
from podium.data.files import sha256, write_atomically
from podium.grading.medals import thresholds
from podium.task import Leaderboard

DOCS = Path(__file__).parent.parent / "docs"
RESULTS = DOCS / "forge.json"
MARK = "<!-- table: scripts/forge_table.py -->"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help="families to measure  [default: all]")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=1)
    arguments = parser.parse_args()
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for family in arguments.families or FAMILIES:
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
            task_id = str(forge_id(family, "medium", seed))
            if task_id not in results:
                results[task_id] = measure(family, seed)
                write_atomically(RESULTS, json.dumps(results, indent=1) + "\n")
                print(task_id, results[task_id], flush=True)
    write_table(results)


def measure(name: str, seed: int) -> dict[str, Any]:
    """Everything the table says about one task."""
    family = load_family(name)
    forged = draw_data(family, "medium", seed)
    started = time.perf_counter()
    field = measure_field(family, "medium", seed)
    seconds = time.perf_counter() - started
    limits = thresholds(Leaderboard(field.lower_is_better, field.scores))
    targets = list(family.form_of(forged).targets)
    sample = forged.sample[targets if len(targets) > 1 else targets[0]].to_numpy()
    defaults = {
        default.name: family.score(forged, run_pipeline(default, forged, np.random.default_rng(0)))
        for default in family.defaults
    }
    return {
        "sample": family.score(forged, sample),
        "sample_medal": limits.medal(family.score(forged, sample)),
        "defaults": defaults,
        "default_medals": [limits.medal(score) for score in defaults.values()],
        "bronze": limits.bronze,
        "gold": limits.gold,
        "best": field.scores[0],
        "ceiling": field.ceiling,
        "lower_is_better": field.lower_is_better,
        "entrants": len(field.entrants),
        "pipelines": len({entrant.pipeline for entrant in field.entrants}),
        "seconds": round(seconds),
        "same_bytes": _digest(name, seed) == _digest(name, seed),
    }


def _digest(name: str, seed: int) -> list[tuple[str, str]]:
    """Names and hashes of the public files of one forging."""
    with tempfile.TemporaryDirectory() as folder:
        write_public(draw_data(load_family(name), "medium", seed), Path(folder))
        paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
        return [(str(path.relative_to(folder)), sha256(path)) for path in paths]


def write_table(results: dict[str, dict[str, Any]]) -> None:
    """Puts the table into docs/forge.md, below its mark."""
    lines = [
        MARK,
        "| task | sample | best default | bronze | gold | best entrant | ceiling | entrants | field, s | same bytes |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for task_id, facts in results.items():
        defaults = facts["defaults"].values()
        best = min(defaults) if facts["lower_is_better"] else max(defaults)
        medals = [medal for medal in facts["default_medals"] if medal]
        cells = [
            task_id.removeprefix("forge-") + (" ↓" if facts["lower_is_better"] else " ↑"),
            f"{facts['sample']:.4f} ({facts['sample_medal'] or 'no medal'})",
            f"{best:.4f} ({medals[0] if medals else 'no medal'})",
            *(f"{facts[name]:.4f}" for name in ("bronze", "gold", "best", "ceiling")),
            f"{facts['entrants']} of {facts['pipelines']} pipelines",
            str(facts["seconds"]),
            "yes" if facts["same_bytes"] else "NO",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    page = DOCS / "forge.md"
    text = page.read_text(encoding="utf-8")
    write_atomically(page, text[: text.index(MARK)] + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
