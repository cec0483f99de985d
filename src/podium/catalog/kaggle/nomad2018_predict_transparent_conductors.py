"""Nomad2018: which oxides conduct electricity and let light through?"""

import math
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import link_parts, read_csv, split_rows, unpacked, write_csv, write_parts, write_zip
from podium.metrics import rmsle
from podium.task import Columns, Number, competition

TYPICAL = {"formation_energy_ev_natom": 0.1779, "bandgap_energy_ev": 1.8892}
TARGETS = list(TYPICAL)

task = competition(
    "nomad2018-predict-transparent-conductors",
    title="Nomad2018 Predicting Transparent Conductors",
    kind="tabular regression",
    metric=rmsle.using(title="Mean column-wise RMSLE"),
    # MLE-bench ignores ids and pairs rows by position; here ids must match. Values just above -1 have a logarithm.
    submission=Columns(id="id", target=tuple(TARGETS), values=Number(low=math.nextafter(-1, 0))),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    parts = split_rows(read_csv(raw / "train.csv.zip"), 0.1)
    numbered = [part.assign(id=np.arange(1, len(part) + 1)) for part in parts]
    write_parts(task.form, numbered, public, private, guess=TYPICAL, hidden=TARGETS)
    with unpacked(raw / "train.zip", public) as folder:
        link_parts(parts, folder, public, files="train/{id}/geometry.xyz", renamed=numbered)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    count = 160
    metals, sides = rng.dirichlet([1, 1, 1], count).round(4), rng.uniform(3, 25, (count, 3)).round(4)
    angles = rng.choice([90.0, 120.0], (count, 3))
    table = pd.DataFrame({"id": np.arange(1, count + 1), "spacegroup": rng.choice([12, 33, 167, 194, 206, 227], count)})
    table["number_of_total_atoms"] = rng.choice([10.0, 20.0, 40.0, 80.0], count)
    table[["percent_atom_al", "percent_atom_ga", "percent_atom_in"]] = metals
    table[[f"lattice_vector_{axis}_ang" for axis in (1, 2, 3)]] = sides
    table[[f"lattice_angle_{name}_degree" for name in ("alpha", "beta", "gamma")]] = angles
    table[TARGETS[0]] = (0.1 + 0.4 * metals[:, 1] * metals[:, 2] + rng.gamma(2, 0.02, count)).round(4)
    table[TARGETS[1]] = (1 + 4 * metals[:, 0] + rng.normal(0, 0.2, count)).clip(0.0001).round(4)
    write_csv(table, raw / "train.csv.zip")
    write_zip(raw / "train.zip", ((f"train/{i}/geometry.xyz", _geometry(sides[i - 1], rng)) for i in table["id"]))


def _geometry(lengths: np.ndarray, rng: np.random.Generator) -> bytes:
    places = zip(("Ga", "Al", "In", "O"), rng.uniform(0, lengths, (4, 3)), strict=True)
    sides = [f"lattice_vector {x:.7f} {y:.7f} {z:.7f}\n" for x, y, z in np.diag(lengths)]
    atoms = [f"atom {x:.7f} {y:.7f} {z:.7f} {element}\n" for element, (x, y, z) in places]
    return "".join(sides + atoms).encode()
