"""Measures fresh seeds of every family and writes the table of docs/forge.md.

    python scripts/forge_table.py [--seeds 5] [--first-seed 1] [FAMILY ...]

For each task: what the sample submission and scikit-learn's defaults get, where the medals lie, what the best entrant
and the true mechanism score, and whether a second forging gives the same bytes. All of it is kept in docs/forge.json,
and seeds found there are not measured again; the table has a row for each family.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from podium.catalog.forge.families import FAMILIES, load_family
from podium.catalog.forge.family import ForgedData
from podium.catalog.forge.field import draw_data, measure_field, run_pipeline
from podium.catalog.forge.forge_ids import forge_id, parse_id
from podium.catalog.forge.forged_data import write_public
from podium.grading.medals import thresholds
from podium.safefs.atomic_files import sha256, write_atomically
from podium.task import Leaderboard

DOCS = Path(__file__).parent.parent / "docs"
RESULTS = DOCS / "forge.json"
MARK = "<!-- table: scripts/forge_table.py -->"
COLUMNS = (
    "family", "seeds", "best entrant", "bronze", "best default", "bronze above default", "medals", "entrants",
    "pipelines", "seconds", "same bytes",
)  # fmt: skip
Facts = dict[str, Any]
"""What was measured of one task."""


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


def measure(name: str, seed: int) -> Facts:
    """Everything that is claimed about one task."""
    family = load_family(name)
    started = processor_seconds()
    forged = draw_data(family, "medium", seed)
    field = measure_field(family, "medium", seed, forged=forged)
    seconds = processor_seconds() - started
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
        "processor_seconds": round(seconds, 1),
        "same_bytes": _digest(forged) == _digest_elsewhere(name, seed),
    }


def processor_seconds() -> float:
    """What this process and those it waited for have computed; the clock would count other programs as well."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _digest(forged: ForgedData) -> list[tuple[str, str]]:
    """Names and hashes of the public files of one forging."""
    with tempfile.TemporaryDirectory() as folder:
        write_public(forged, Path(folder))
        paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
        return [(str(path.relative_to(folder)), sha256(path)) for path in paths]


def _digest_elsewhere(name: str, seed: int) -> list[tuple[str, str]]:
    """The same of a second forging in a process of its own, where sets of texts have another order."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_digest_anew, name, seed).result()


def _digest_anew(name: str, seed: int) -> list[tuple[str, str]]:
    return _digest(draw_data(load_family(name), "medium", seed))


def write_table(results: dict[str, Facts]) -> None:
    """Puts the table into docs/forge.md, below its mark."""
    families: dict[str, dict[int, Facts]] = {}
    for task_id, facts in results.items():
        parts = parse_id(task_id)
        families.setdefault(parts.family, {})[int(str(parts.seed))] = facts
    rows = [_row(name, families[name]) for name in FAMILIES if name in families]
    lines = [MARK, *("| " + " | ".join(cells) + " |" for cells in (COLUMNS, ["---"] * len(COLUMNS), *rows))]
    page = DOCS / "forge.md"
    text = page.read_text(encoding="utf-8")
    write_atomically(page, text[: text.index(MARK)] + "\n".join(lines) + "\n")


def _row(name: str, tasks: dict[int, Facts]) -> list[str]:
    """What holds for all measured tasks of a family; scores are shares of the way from the sample to the ceiling."""
    found = list(tasks.values())
    best, bronze = ([_reach(facts, facts[what]) for facts in found] for what in ("best", "bronze"))
    default = [max(_reach(facts, score) for score in facts["defaults"].values()) for facts in found]
    medals = sum(medal is not None for facts in found for medal in (facts["sample_medal"], *facts["default_medals"]))
    computed = [facts["processor_seconds"] for facts in found if "processor_seconds" in facts]
    return [
        name,
        f"{min(tasks)} to {max(tasks)}",
        *(f"{min(reached):.1%} to {max(reached):.1%}" for reached in (best, bronze, default)),
        f"{min(np.subtract(bronze, default)):.1%} or more",
        str(medals),
        _span([facts["entrants"] for facts in found]),
        _span([facts["pipelines"] for facts in found]),
        _span(computed) if computed else f"{_span([facts['seconds'] for facts in found])} by the clock",
        "yes" if all(facts["same_bytes"] for facts in found) else "NO",
    ]


def _reach(facts: Facts, score: float) -> float:
    return float((score - facts["sample"]) / (facts["ceiling"] - facts["sample"]))


def _span(numbers: Sequence[float]) -> str:
    low, high = round(min(numbers)), round(max(numbers))
    return str(low) if low == high else f"{low} to {high}"


if __name__ == "__main__":
    main()
