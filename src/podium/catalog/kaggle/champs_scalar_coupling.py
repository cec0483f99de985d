"""Predicting Molecular Properties: how strongly do two atoms of a molecule couple magnetically?"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import link_files, read_csv, split_groups, write_bytes, write_csv, write_parts
from podium.metrics import group_log_mae
from podium.task import Columns, competition

TARGET = "scalar_coupling_constant"
EXTRAS = {
    "dipole_moments": ["X", "Y", "Z"],
    "potential_energy": ["potential_energy"],
    "mulliken_charges": ["mulliken_charge"],
    "magnetic_shielding_tensors": [row + column for column in "XYZ" for row in "XYZ"],
    "scalar_coupling_contributions": ["fc", "sd", "pso", "dso"],
}

task = competition(
    "champs-scalar-coupling",
    title="Predicting Molecular Properties",
    kind="molecular regression",
    metric=group_log_mae.using(title="Mean log MAE of coupling types"),
    submission=Columns(id="id", target=TARGET, values=float, answers="answers.csv", repeated_rows=True),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path, *, all_structures: bool = False) -> None:
    train, test = split_groups(read_csv(raw / "train.csv"), "molecule_name", 0.1)
    write_parts(task.form, (train, test), public, private, guess=0, hidden=TARGET)
    known, every = train["molecule_name"], pd.concat([train, test])["molecule_name"]
    shown = {"structures": every if all_structures else known} | dict.fromkeys(EXTRAS, known)
    for name, molecules in shown.items():
        table = read_csv(raw / f"{name}.csv")
        write_csv(table[table["molecule_name"].isin(molecules)], public / f"{name}.csv")
    link_files(raw / "structures", public / "structures", shown["structures"].unique() + ".xyz")


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame, *, floor: float = 0.0) -> float:
    # As in MLE-bench, every copy of a repeated id counts, which dilutes the error of its type.
    truth = submission[["id"]].merge(answers)
    return task.metric.using(groups=truth["type"], floor=floor)(truth[TARGET], submission[TARGET])


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
    prepare=partial(prepare, all_structures=True),
    score=partial(score, floor=1e-9),
    submission=replace(task.form, repeated_rows=False),
)
