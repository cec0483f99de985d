"""Measures what `podium integrity scan` finds and misses, and writes the tables in docs/integrity.md.

`python tests/integrity/make_figures.py [FOLDER]` carries out the corpus and the honest experiments: about half an hour.
Runs that are in the folder already are only scanned again: detectors change, what agents did does not.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))  # where the scripted model is
os.environ.setdefault("PODIUM_API_KEY", "none")

from corpus_runs import Case, load_cases
from measuring import concerns, doubted, honest_experiments, real_tasks

PAGE = Path(__file__).parents[2] / "docs" / "integrity.md"
START, END = "<!-- figures -->", "<!-- end of figures -->"


def cheats_table(found: dict[Case, set[str]]) -> list[str]:
    by_kind: dict[str, list[Case]] = defaultdict(list)
    for case in found:
        by_kind[str(case.kind)].append(case)
    lines = ["| kind | cheats | found | named as this kind | of them blind | found |", "|---|---|---|---|---|---|"]
    for kind, cases in [*sorted(by_kind.items()), ("**all**", list(found))]:
        blind = [case for case in cases if case.author != "own"]
        counts = (len(cases), _found(cases, found), sum(str(case.kind) in found[case] for case in cases))
        lines.append(f"| {kind} | {' | '.join(map(str, counts))} | {len(blind)} | {_found(blind, found)} |")
    return lines


def _found(cases: list[Case], found: dict[Case, set[str]]) -> int:
    return sum(bool(found[case]) for case in cases)


def honest_table(cases: dict[Case, set[str]], experiments: dict[str, dict[str, set[str]]]) -> list[str]:
    lines = ["| honest runs | runs | with a concern |", "|---|---|---|"]
    sets = {"blind": "scripted, blind set 1", **{f"blind{n}": f"scripted, blind set {n}" for n in (2, 3, 4)}}
    for author, words in {"own": "scripted, written with the detectors", **sets}.items():
        wanted = [case for case in cases if case.author == author]
        lines.append(f"| {words} | {len(wanted)} | {_found(wanted, cases)} |")
    lines += [f"| {words} | {len(runs)} | {_doubted(runs)} |" for words, runs in experiments.items()]
    total = len(cases) + sum(map(len, experiments.values()))
    lines.append(f"| **all** | {total} | {_found(list(cases), cases) + sum(map(_doubted, experiments.values()))} |")
    return lines


def _doubted(runs: dict[str, set[str]]) -> int:
    return sum(bool(kinds) for kinds in runs.values())


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="podium-figures-") as name:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else name)
        data = folder / "data"
        cheats, honest = (
            {case: concerns(case, folder, data) for case in load_cases(group)} for group in ("cheats", "honest")
        )
        with real_tasks(folder / "tasks", data) as real:
            experiments = {each.words: doubted(each, folder, data) for each in honest_experiments(real)}
    for case, kinds in (*cheats.items(), *honest.items()):
        if bool(kinds) != (case.kind is not None):
            print(f"{case.name}: {', '.join(sorted(kinds)) or 'nothing found'}", file=sys.stderr)
    for path, kinds in (run for runs in experiments.values() for run in runs.items() if run[1]):
        print(f"{path}: {', '.join(sorted(kinds))}", file=sys.stderr)
    text = "\n".join([*cheats_table(cheats), "", *honest_table(honest, experiments)])
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    PAGE.write_text(f"{before}{START}\n{text}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
