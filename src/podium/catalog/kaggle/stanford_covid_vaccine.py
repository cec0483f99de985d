"""OpenVaccine: how fast does each base of an mRNA molecule degrade?"""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import (
    hex_ids,
    link_files,
    read_json_lines,
    sample_of,
    write_array,
    write_csv,
    write_json_lines,
)
from podium.grading.check_submission import scored_cells
from podium.metrics import rmse
from podium.task import Columns, Number, Text, competition

TARGETS = ["reactivity", "deg_Mg_pH10", "deg_pH10", "deg_Mg_50C", "deg_50C"]
SCORED = ["reactivity", "deg_Mg_pH10", "deg_Mg_50C"]
ERRORS = [name.replace("deg", "deg_error") if name in TARGETS[1:] else f"{name}_error" for name in TARGETS]

task = competition(
    "stanford-covid-vaccine",
    title="OpenVaccine: COVID-19 mRNA Vaccine Degradation Prediction",
    kind="sequence regression",
    metric=rmse.using(title="MCRMSE"),
    # MLE-bench picks the scored rows by position, so that any order but the sample's scores wrongly; here ids decide.
    submission=Columns(
        id="id_seqpos",
        target=tuple(TARGETS),
        values={name: Number(blank=True) if name in SCORED else Text() for name in TARGETS},
    ),
    known_leaks="Ids name the position in the molecule.",
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path, *, pairings: bool = False) -> None:
    molecules, unmeasured = read_json_lines(raw / "train.json"), read_json_lines(raw / "test.json")
    clean = molecules[molecules["SN_filter"] > 0]
    held = molecules.index.isin(clean.sample(int(0.1 * len(molecules)), random_state=0).index)
    for part, name, columns in ((~held, "train", molecules.columns), (held, "test", unmeasured.columns)):
        rows = molecules[part].assign(index=range(part.sum()))
        write_json_lines(rows[columns], public / f"{name}.json")
        if pairings:
            link_files(raw / "bpps", public / "bpps", rows["id"] + ".npy")
    answers = _by_position(molecules[held])
    sample = sample_of(answers, "id_seqpos", **dict.fromkeys(TARGETS, 0.0))
    write_csv(sample, public / "sample_submission.csv", float_format="%.10f")
    write_csv(answers, private / "test.csv", float_format="%.10f")


def _by_position(molecules: pd.DataFrame) -> pd.DataFrame:
    """Return a row per base; the last ones of a molecule were not measured and hold zeros."""
    length, measured = molecules[["seq_length", "seq_scored"]].iloc[0]
    table = pd.DataFrame({"id_seqpos": [f"{name}_{place}" for name in molecules["id"] for place in range(length)]})
    for name in TARGETS:
        table[name] = np.pad(np.stack(molecules[name].tolist()), ((0, 0), (0, length - measured))).ravel()
    return table.assign(keep=np.tile(np.arange(length) < measured, len(molecules)))


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    kept = answers["keep"].to_numpy()
    return task.metric(answers.loc[kept, SCORED], scored_cells(submission, kept, SCORED, "id_seqpos"))


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    length, measured, count = 30, 20, 90
    level = {"A": 0.7, "G": 0.6, "U": 0.3, "C": 0.2}
    table = pd.DataFrame({"index": range(count), "id": [f"id_{name}" for name in hex_ids(rng, count, 9)]})
    table["sequence"] = ["".join(rng.choice(list(level), length)) for _ in range(count)]
    table["structure"], table["predicted_loop_type"] = "(((((((((((........)))))))))))", "S" * 11 + "H" * 8 + "S" * 11
    table = table.assign(seq_length=length, seq_scored=measured)
    write_json_lines(table.head(5), raw / "test.json")
    table["signal_to_noise"] = rng.gamma(2, 2, count).round(3)
    table["SN_filter"] = (table["signal_to_noise"] > 1.5).astype(float)
    bases = np.array([[level[base] for base in sequence[:measured]] for sequence in table["sequence"]])
    for name in ERRORS:
        table[name] = rng.uniform(0.03, 0.3, bases.shape).round(4).tolist()
    for name in TARGETS:
        table[name] = (bases + rng.normal(0, 0.2, bases.shape)).round(4).tolist()
    write_json_lines(table, raw / "train.json")
    for name in table["id"]:
        write_array(rng.random((length, length)).astype(np.float32) / length, raw / "bpps" / f"{name}.npy")


task.fixed(
    "The base-pairing probabilities (bpps) are handed out, as they were on Kaggle.",
    prepare=partial(prepare, pairings=True),
)
