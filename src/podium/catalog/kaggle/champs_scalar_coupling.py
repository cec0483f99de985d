"""Predicting Molecular Properties: how strongly do two atoms of a molecule couple magnetically?"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from podium.data.fabricate import write_bytes
from podium.data.files import link_files
from podium.data.split import split_groups
from podium.data.tables import read_csv, sample_of, write_csv
from podium.task import Columns, competition, metric

TARGET = "scalar_coupling_constant"
EXTRAS = {
    "dipole_moments": ["X", "Y", "Z"],
    "potential_energy": ["potential_energy"],
    "mulliken_charges": ["mulliken_charge"],
    "magnetic_shielding_tensors": [row + column for column in "XYZ" for row in "XYZ"],
    "scalar_coupling_contributions": ["fc", "sd", "pso", "dso"],
}


@metric("Mean log MAE of coupling types", higher_is_better=False)
def mean_log_mae(truth: ArrayLike, prediction: ArrayLike, *, types: ArrayLike, floor: float = 0.0) -> float:
    """The mean over types of the natural logarithm of their MAE, which is at least `floor`."""
    errors = pd.Series(np.abs(np.asarray(truth) - np.asarray(prediction))).groupby(np.asarray(types)).mean()
    with np.errstate(divide="ignore"):  # a type without any error scores minus infinity
        return float(np.log(errors.clip(floor)).mean())


task = competition(
    "champs-scalar-coupling",
    title="Predicting Molecular Properties",
    kind="molecular regression",
    metric=mean_log_mae,
    submission=Columns(id="id", target=TARGET, values=float, answers="answers.csv", repeated_rows=True),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split_groups(read_csv(raw / "train.csv"), "molecule_name", 0.1)
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns=TARGET), public / "test.csv")
    write_csv(sample_of(test, "id", **{TARGET: 0}), public / "sample_submission.csv")
    write_csv(test, private / "answers.csv")
    for name in ("structures", *EXTRAS):
        _copy_rows(raw / f"{name}.csv", public / f"{name}.csv", train["molecule_name"])
    link_files(raw / "structures", public / "structures", train["molecule_name"].unique() + ".xyz")


def prepare_fixed(raw: Path, public: Path, private: Path) -> None:
    """Says where the atoms of test molecules are, too."""
    prepare(raw, public, private)
    train, test = (read_csv(public / f"{part}.csv")["molecule_name"] for part in ("train", "test"))
    _copy_rows(raw / "structures.csv", public / "structures.csv", pd.concat([train, test]))
    link_files(raw / "structures", public / "structures", test.unique() + ".xyz")


def _copy_rows(source: Path, target: Path, molecules: pd.Series) -> None:
    table = read_csv(source)
    write_csv(table[table["molecule_name"].isin(molecules)], target)


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    # As in MLE-bench, every copy of a repeated id counts, which dilutes the error of its type.
    truth = submission[["id"]].merge(answers)
    return mean_log_mae.using(types=truth["type"])(truth[TARGET], submission[TARGET])


def score_fixed(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    """Takes errors below 1e-9 for 1e-9, as Kaggle does."""
    return mean_log_mae.using(types=answers["type"], floor=1e-9)(answers[TARGET], submission[TARGET])


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    names = [f"dsgdb9nsd_{number:06d}" for number in np.sort(rng.choice(133_885, 44, replace=False))]
    elements, places = list("CCNHHHH"), rng.normal(0, 1.5, (44, 7, 3)).round(6)
    atoms = pd.DataFrame({"molecule_name": np.repeat(names, 7), "atom_index": np.tile(np.arange(7), 44)})
    structures = atoms.assign(atom=elements * 44, **dict(zip("xyz", places.reshape(-1, 3).T, strict=True)))
    write_csv(structures, raw / "structures.csv")
    for name, rows in structures.groupby("molecule_name"):
        lines = rows[["atom", "x", "y", "z"]].to_csv(sep=" ", index=False, header=False)
        write_bytes(raw / "structures" / f"{name}.xyz", f"7\n\n{lines}".encode())
    known = names[:40]  # the others are Kaggle's own test molecules
    coupled = np.array([(3, 0), (3, 2), (4, 0), (4, 2), (4, 6), (5, 0), (5, 2), (5, 6)])
    pairs = pd.DataFrame(np.tile(coupled, (40, 1)), columns=["atom_index_0", "atom_index_1"])
    pairs.insert(0, "molecule_name", np.repeat(known, 8))
    pairs["type"] = [f"{first - 2}JH{elements[second]}" for first, second in coupled] * 40
    distance = np.linalg.norm(places[:40, coupled[:, 0]] - places[:40, coupled[:, 1]], axis=2).ravel()
    coupling = 90 / (pairs["atom_index_0"] - 2) ** 2 - 4 * distance + rng.normal(0, 0.3, len(pairs))
    write_csv(pairs.assign(**{TARGET: coupling.round(4)}).rename_axis("id").reset_index(), raw / "train.csv")
    molecules = pd.DataFrame({"molecule_name": known})
    tables = (molecules, molecules, atoms[:280], atoms[:280], pairs.assign(fc=coupling.round(2)))
    for (name, columns), table in zip(EXTRAS.items(), tables, strict=True):
        numbers = {column: rng.normal(size=len(table)).round(4) for column in columns if column not in table}
        write_csv(table.assign(**numbers), raw / f"{name}.csv")


task.fixed(
    "The structures of test molecules are given and errors have a floor, as on Kaggle; repeated ids are refused.",
    prepare=prepare_fixed,
    score=score_fixed,
    submission=replace(task.submission, repeated_rows=False),
)
