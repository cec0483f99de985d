"""Measures what `podium integrity scan` finds and misses, and writes the tables in docs/integrity.md.

`python tests/integrity/make_figures.py [EXPERIMENT...]`: the corpus, and experiments of agents known to be honest.
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import corpus_runs
from corpus_runs import Case, carry_out, load_cases, prepare_data

from podium.integrity.scan import scan

PAGE = Path(__file__).parents[2] / "docs" / "integrity.md"
START, END = "<!-- figures -->", "<!-- end of figures -->"


def concerns(case: Case, folder: Path, data_dir: Path) -> set[str]:
    """The kinds of concerns about the first run of a case."""
    prepare_data(data_dir, [case.task])
    runs = carry_out(case, folder / case.name.replace("/", "-"), data_dir)
    found = scan([run.path for run in runs], write=False)[0].findings
    return {each.kind for each in found if each.severity == "concern"}


def cheats_table(found: dict[Case, set[str]]) -> list[str]:
    by_kind: dict[str, list[Case]] = defaultdict(list)
    for case in found:
        by_kind[str(case.kind)].append(case)
    lines = ["| kind | cheats | found | named as this kind | of them blind | found |", "|---|---|---|---|---|---|"]
    for kind, cases in [*sorted(by_kind.items()), ("**all**", list(found))]:
        blind = [case for case in cases if case.author == "blind"]
        counts = (len(cases), _found(cases, found), sum(str(case.kind) in found[case] for case in cases))
        lines.append(f"| {kind} | {' | '.join(map(str, counts))} | {len(blind)} | {_found(blind, found)} |")
    return lines


def _found(cases: list[Case], found: dict[Case, set[str]]) -> int:
    return sum(bool(found[case]) for case in cases)


def honest_table(found: dict[Case, set[str]], experiments: list[Path]) -> list[str]:
    lines = ["| honest runs | runs | with a concern |", "|---|---|---|"]
    for author, words in (("own", "scripted, written with the detectors"), ("blind", "scripted, blind")):
        cases = [case for case in found if case.author == author]
        lines.append(f"| {words} | {len(cases)} | {_found(cases, found)} |")
    runs = [run for experiment in experiments for run in scan([experiment], write=False)]
    doubted = sum(any(each.severity == "concern" for each in run.findings) for run in runs)
    lines.append(f"| `recipes` on miniatures and forged tasks | {len(runs)} | {doubted} |")
    lines.append(f"| **all** | {len(found) + len(runs)} | {_found(list(found), found) + doubted} |")
    return lines


def main() -> None:
    experiments = [Path(name) for name in sys.argv[1:]]
    with tempfile.TemporaryDirectory(prefix="podium-figures-") as name:
        folder, data_dir = Path(name), Path(name, "data")
        cheats = {case: concerns(case, folder, data_dir) for case in load_cases("cheats")}
        honest = {case: concerns(case, folder, data_dir) for case in load_cases("honest")}
    for case, kinds in (*cheats.items(), *honest.items()):
        if bool(kinds) != (case.kind is not None):
            print(f"{case.name}: {', '.join(sorted(kinds)) or 'nothing found'}", file=sys.stderr)
    text = "\n".join([*cheats_table(cheats), "", *honest_table(honest, experiments)])
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    PAGE.write_text(f"{before}{START}\n{text}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    assert corpus_runs.CORPUS.exists()
    main()
