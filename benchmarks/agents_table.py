"""Adds the results of benchmarks/agents.py to docs/agents.json, and writes the tables of docs/benchmarks.md.

    python benchmarks/agents_table.py [OUT ...]

OUT are folders of benchmarks/agents.py. Runs of one working time belong together, whenever and wherever they were
measured; what is taken up later replaces what was known of the same contender and task.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from podium.safefs.atomic_files import write_atomically

DOCS = Path(__file__).parent.parent / "docs"
KEPT = DOCS / "agents.json"
MARK = "<!-- tables: benchmarks/agents_table.py -->"
FACTS = ("valid", "score", "percentile", "medal", "ended_by", "is_sample", "working_s")
"""What is kept of a run."""
ABOUT = ("kind", "metric", "higher_is_better")
"""What is kept of a task."""
SHOWN = ("recipes", "autogluon-best", "flaml", "hgb")
"""The contenders whose score on each task is shown; all are compared with the first."""
LABELS = {"aide": "aide (scripted coder)", "frontier": "frontier (scripted coder)"}
"""What contenders are called in tables, where their name alone would promise more."""
FAR = 1.1
"""Times the best contender's error: whoever makes more is far behind it."""

Kept = dict[str, dict[str, Any]]
"""By working time in seconds the versions of packages, and by task facts about it and the run of each contender."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, nargs="*", metavar="OUT", help="folders of benchmarks/agents.py")
    folders: list[Path] = parser.parse_args().out
    missing = [folder for folder in folders if not (folder / "agents.json").is_file()]
    if missing:
        parser.error(f"{missing[0]} has no agents.json: it is not a folder of benchmarks/agents.py")
    results = [json.loads((folder / "agents.json").read_text(encoding="utf-8")) for folder in folders]
    kept = taken_up(read_kept(), results)
    write_atomically(KEPT, as_lines(kept))
    write_tables(DOCS / "benchmarks.md", MARK, page(kept))


def read_kept() -> Kept:
    """All that has been measured."""
    kept: Kept = json.loads(KEPT.read_text(encoding="utf-8"))
    return kept


def taken_up(kept: Kept, results: Iterable[dict[str, Any]]) -> Kept:
    """What was known, with further results."""
    found = {time: {**facts, "tasks": dict(facts["tasks"])} for time, facts in kept.items()}
    for result in results:
        of_time = found.setdefault(f"{result['time_s']:g}", {"versions": {}, "tasks": {}})
        of_time["versions"] = {**of_time["versions"], **result["versions"]}
        for task, facts in result["tasks"].items():
            runs = {name: {fact: run[fact] for fact in FACTS} for name, run in facts.items() if name not in ABOUT}
            about = {name: facts[name] for name in ABOUT}
            of_time["tasks"][task] = {**of_time["tasks"].get(task, {}), **about, **runs}
    return dict(sorted(found.items(), key=lambda item: float(item[0])))


def as_lines(kept: Kept) -> str:
    """JSON with a line for each task."""
    times = []
    for time, facts in kept.items():
        lines = ",\n".join(f'  "{task}": {json.dumps(about)}' for task, about in sorted(facts["tasks"].items()))
        times.append(f' "{time}": {{\n "versions": {json.dumps(facts["versions"])},\n "tasks": {{\n{lines}\n }}}}')
    return "{\n" + ",\n".join(times) + "\n}\n"


def contenders_of(tasks: dict[str, dict[str, Any]]) -> list[str]:
    """Whoever has a result on some task."""
    return sorted({name for facts in tasks.values() for name in facts if name not in ABOUT})


def signed(run: dict[str, Any], higher_is_better: bool) -> float:
    """A score of which more is better; an invalid submission is worse than any."""
    if not run["valid"]:
        return float("-inf")
    return float(run["score"]) if higher_is_better else -float(run["score"])


def is_forged(task: str) -> bool:
    return task.startswith("forge-")


def page(kept: Kept) -> list[str]:
    """The tables, as they stand in the documentation."""
    lines = []
    for time, facts in kept.items():
        tasks = dict(sorted(facts["tasks"].items(), key=lambda item: (is_forged(item[0]), item[0])))
        lines += [f"### {time} s of working time", "", *comparison(tasks), ""]
        lines += [far_behind(tasks), "", *task_table(tasks), ""]
    return lines or ["Nothing has been measured yet."]


def comparison(tasks: dict[str, dict[str, Any]]) -> list[str]:
    """On how many tasks the first contender is better than each of the others."""
    first = SHOWN[0]
    lines = [
        f"| {first} against | real tasks: better | equal | worse | forged tasks: better | equal | worse |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in (name for name in contenders_of(tasks) if name != first):
        cells = []
        for forged in (False, True):
            gaps = [
                signed(facts[first], facts["higher_is_better"]) - signed(facts[name], facts["higher_is_better"])
                for task, facts in tasks.items()
                if is_forged(task) == forged and first in facts and name in facts
            ]
            cells += [sum(gap > 0 for gap in gaps), sum(gap == 0 for gap in gaps), sum(gap < 0 for gap in gaps)]
        lines.append(f"| {' | '.join([LABELS.get(name, name), *map(str, cells)])} |")
    return lines


def far_behind(tasks: dict[str, dict[str, Any]]) -> str:
    """On how many tasks those that are shown are far behind the best contender."""
    found = []
    for name in (name for name in SHOWN if name in contenders_of(tasks)):
        far = {
            forged: [
                is_far(facts, name) for task, facts in tasks.items() if is_forged(task) == forged and name in facts
            ]
            for forged in (False, True)
        }
        counts = [f"{sum(far[forged])} of {len(far[forged])}" for forged in (False, True)]
        found.append(f"{name} on {counts[0]} real and {counts[1]} forged tasks")
    return (
        "More than a tenth more error than the best contender (where more is better, what a score lacks to 1): "
        f"{'; '.join(found)}."
    )


def is_far(facts: dict[str, Any], name: str) -> bool:
    """Whether a contender is far behind the best one on a task."""
    return error_of(facts, name) > FAR * min(error_of(facts, other) for other in facts if other not in ABOUT)


def error_of(facts: dict[str, Any], name: str) -> float:
    """What the perfect score is better than a contender's on a task; the highest of all metrics here is 1."""
    higher = facts["higher_is_better"]
    return float(higher) - signed(facts[name], higher)


def task_table(tasks: dict[str, dict[str, Any]]) -> list[str]:
    """A row for each task: score, percentile and medal of each contender that is shown."""
    names = [name for name in SHOWN if name in contenders_of(tasks)]
    lines = [f"| task | metric | {' | '.join(names)} |", "|" + "---|" * (2 + len(names))]
    for task, facts in tasks.items():
        metric = f"{facts['metric']} {'↑' if facts['higher_is_better'] else '↓'}"
        cells = [task, metric, *(outcome(facts.get(name)) for name in names)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def outcome(run: dict[str, Any] | None) -> str:
    """What a contender reached, in a cell."""
    if run is None:
        return "-"
    if not run["valid"]:
        return "invalid"
    note = "sample" if run["is_sample"] else run["medal"]
    percentile = "" if run["percentile"] is None else f", {run['percentile']:.0f}%"
    return f"{float(run['score']):.4g}{percentile}{f', {note}' if note else ''}"


def write_tables(file: Path, mark: str, lines: list[str]) -> None:
    """Puts tables in the place of those after a mark in a page, up to the next heading of a section."""
    text = file.read_text(encoding="utf-8")
    before, rest = text[: text.index(mark)], text[text.index(mark) :]
    after = rest[rest.index("\n## ") :] if "\n## " in rest else ""
    write_atomically(file, before + "\n".join([mark, *lines]).rstrip() + "\n" + after)


if __name__ == "__main__":
    main()
