"""Spaceship Titanic, MLAgentBench's way: another split of Kaggle's passengers, and starter code."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import read_csv, split_in_order, write_csv, write_parts
from podium.data.fetch.kaggle_download import download
from podium.metrics import accuracy
from podium.task import Baseline, Columns, Starter, research_task

FORM = Columns(id="PassengerId", target="Transported", values=bool)
KNOWN_SHARE = 0.8

task = research_task(
    "mlab-spaceship-titanic",
    title="Spaceship Titanic (MLAgentBench)",
    kind="tabular classification",
    metric=accuracy,
    submission=replace(FORM, id=()),
    starter=Starter(folder=Path(__file__).with_suffix(""), script="train.py"),
)


@task.fetch
def fetch(raw: Path) -> None:
    download("spaceship-titanic", raw)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    passengers = read_csv(raw / "train.csv", dtype=str, keep_default_na=False)
    known, hidden = split_in_order(passengers, KNOWN_SHARE)
    usual = known["Transported"].mode()[0]
    write_parts(FORM, (known, hidden), public, private, guess=usual, hidden="Transported")


task.fixed(
    "Rows are joined by their id; the original compared them by position, whatever their ids said.", submission=FORM
)
task.editions["v1"].reference = Baseline(0.5)  # the starter has no model: a coin


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    count = 800
    asleep = rng.random(count) < 0.35
    bills = np.where(asleep[:, None], 0, rng.gamma(0.3, 1500, (count, 5)).round())
    decks, sides = rng.choice(list("ABCDEFG"), count), rng.choice(["P", "S"], count)
    numbers = rng.integers(1900, size=count)
    table = pd.DataFrame(
        {
            "HomePlanet": rng.choice(["Earth", "Europa", "Mars"], count),
            "CryoSleep": asleep,
            "Cabin": [f"{deck}/{number}/{side}" for deck, number, side in zip(decks, numbers, sides, strict=True)],
            "Destination": rng.choice(["TRAPPIST-1e", "55 Cancri e", "PSO J318.5-22"], count),
            "Age": rng.integers(0, 80, count).astype(float),
            "VIP": rng.random(count) < 0.05,
            **dict(zip(["RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"], bills.T, strict=True)),
            "Name": rng.choice(["Ilvo Brandt", "Mara Osei", "Tuuli Anselm", "Pax Oduya"], count),
        }
    )
    # Who sleeps, spends little at the spa or has a starboard cabin on an upper deck tends to be carried off.
    pull = 2.2 * asleep - 0.0015 * (bills[:, 3] + bills[:, 4] + bills[:, 0]) + 0.0004 * bills[:, 1]
    pull += 0.6 * (sides == "S") + 0.8 * np.isin(decks, ["B", "C"]) - 0.6
    table = table.mask(rng.random(table.shape) < 0.02)
    table.insert(0, "PassengerId", [f"{number // 2 + 1:04d}_{number % 2 + 1:02d}" for number in range(count)])
    table["Transported"] = rng.random(count) < 1 / (1 + np.exp(-1.5 * pull))
    table.loc[0, "Cabin"] = "T/0/P"  # a deck that only the train part has, as in the real data
    write_csv(table, raw / "train.csv")
