"""Writes the tables of docs/agents.md from what benchmarks/agents.py has measured.

    python scripts/agents_table.py [RESULTS]

RESULTS, by default runs/agents/agents.json, is kept as docs/agents.json; without it the tables are made from that one.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from podium.data.files import write_atomically

DOCS = Path(__file__).parent.parent / "docs"
KEPT = DOCS / "agents.json"
MARK = "<!-- tables: scripts/agents_table.py -->"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="?", default=Path("runs/agents/agents.json"))
    given: Path = parser.parse_args().results
    if given.exists():
        write_atomically(KEPT, given.read_text(encoding="utf-8"))
    results = json.loads(KEPT.read_text(encoding="utf-8"))
    page = DOCS / "agents.md"
    text = page.read_text(encoding="utf-8")
    lines = [MARK, *summaries(results), "", *tasks(results)]
    write_atomically(page, text[: text.index(MARK)] + "\n".join(lines) + "\n")


def summaries(results: dict[str, Any]) -> list[str]:
    """A row for each contender."""
    lines = [
        "| agent | tasks | valid | with a medal | mean percentile | sample submission handed in |",
        "|---|---|---|---|---|---|",
    ]
    for name, facts in results["contenders"].items():
        cells = [
            name,
            str(facts["tasks"]),
            f"{facts['valid_rate']:.0%}",
            f"{facts['medal_rate']:.0%}",
            f"{facts['mean_percentile']:.1f}",
            str(facts["samples"]),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def tasks(results: dict[str, Any]) -> list[str]:
    """A row for each task: score, percentile and medal of each contender."""
    names = list(results["contenders"])
    lines = [f"| task | metric | {' | '.join(names)} |", "|" + "---|" * (2 + len(names))]
    for task, facts in results["tasks"].items():
        metric = f"{facts['metric']} {'↑' if facts['higher_is_better'] else '↓'}"
        cells = [task.removeprefix("forge-"), metric, *(outcome(facts.get(name)) for name in names)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def outcome(facts: dict[str, Any] | None) -> str:
    """What a contender reached, in a cell."""
    if facts is None:
        return "-"
    if not facts["valid"]:
        return "invalid"
    note = "sample" if facts["is_sample"] else facts["medal"]
    percentile = "" if facts["percentile"] is None else f", {facts['percentile']:.0f}%"
    return f"{float(facts['score']):.4f}{percentile}{f', {note}' if note else ''}"


if __name__ == "__main__":
    main()
