"""Spaceship Titanic: which passengers were carried to another dimension?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import split_table, write_csv
from podium.metrics import accuracy
from podium.task import Columns, competition

task = competition(
    "spaceship-titanic",
    title="Spaceship Titanic",
    kind="tabular classification",
    metric=accuracy,
    submission=Columns(id="PassengerId", target="Transported", values=bool),
)
# Travel groups (the first part of the id) may fall on both sides, as in MLE-bench.
split_table(task, 0.1, guess=False, hidden="Transported")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    count = 280
    asleep = rng.random(count) < 0.35
    bills = np.where(asleep[:, None], 0, rng.gamma(0.3, 1500, (count, 5)).round())
    features = pd.DataFrame(
        {
            "HomePlanet": rng.choice(["Earth", "Europa", "Mars"], count),
            "CryoSleep": asleep,
            "Cabin": [f"{rng.choice(list('ABCDEFGT'))}/{rng.integers(1900)}/{rng.choice(['P', 'S'])}" for _ in bills],
            "Destination": rng.choice(["TRAPPIST-1e", "55 Cancri e", "PSO J318.5-22"], count),
            "Age": rng.integers(0, 80, count).astype(float),
            "VIP": rng.random(count) < 0.05,
            **dict(zip(["RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"], bills.T, strict=True)),
            "Name": rng.choice(["Maham Ofracculy", "D'Ann O'Reilly", "Solam Ünalp"], count),
        }
    ).mask(rng.random((count, 12)) < 0.04)
    features.insert(0, "PassengerId", [f"{number // 2:04d}_{number % 2 + 1:02d}" for number in range(count)])
    features["Transported"] = rng.random(count) < np.where(asleep, 0.8, 0.35)
    write_csv(features, raw / "train.csv")
