"""House prices, MLAgentBench's way: what did a house in Ames, Iowa, sell for?"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import RAW_ORDER, lines_beside, read_csv, split_in_order, write_csv, write_parts
from podium.data.fetch.kaggle_download import download
from podium.metrics import mae
from podium.task import Baseline, Columns, Starter, research_task

FORM = Columns(id="Id", target="SalePrice", values=float)
KNOWN_SHARE = 0.8

task = research_task(
    "house-price",
    title="House prices (MLAgentBench)",
    kind="tabular regression",
    metric=mae,
    submission=replace(FORM, id=()),
    starter=Starter(folder=Path(__file__).with_suffix(""), script="train.py"),
    known_leaks=RAW_ORDER,
)


@task.fetch
def fetch(raw: Path) -> None:
    download("home-data-for-ml-course", raw)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    # As text: "NA" is a value here, and no number may change its digits.
    houses = read_csv(raw / "train.csv", dtype=str, keep_default_na=False)
    known, hidden = split_in_order(houses, KNOWN_SHARE)
    middle = float(known["SalePrice"].astype(float).median())
    write_parts(FORM, (known, hidden), public, private, guess=middle, hidden="SalePrice")


task.fixed(
    "Rows are joined by their id; the original compared them by position, whatever their ids said.", submission=FORM
)
# The starter has no model, so the original counts from a score that any submission beats.
task.editions["v1"].reference = Baseline(1e10)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    count = 400
    houses = pd.DataFrame({"Id": np.arange(1, count + 1)})
    for line in lines_beside(__file__):  # a name, then a range of numbers or a list of values
        name, values = line.split(": ")
        houses[name] = _numbers(values, count, rng) if ".." in values else _choices(values, count, rng)
    houses["GrLivArea"] = houses["1stFlrSF"] + houses["2ndFlrSF"] + houses["LowQualFinSF"]
    houses["TotalBsmtSF"] = houses["BsmtFinSF1"] + houses["BsmtFinSF2"] + houses["BsmtUnfSF"]
    houses["YearRemodAdd"] = houses[["YearBuilt", "YearRemodAdd"]].max(axis=1)
    houses["LotFrontage"] = houses["LotFrontage"].astype(object).mask(rng.random(count) < 0.18, "NA")
    streets = houses["Neighborhood"].astype("category").cat.codes.to_numpy() / 20  # some are dearer than others
    worth = (
        0.14 * houses["OverallQual"]
        + 0.0004 * houses["GrLivArea"]
        + 0.004 * (houses["YearRemodAdd"] - 1950)
        + 0.0003 * houses["TotalBsmtSF"]
        + 0.08 * houses["GarageCars"]
        + 0.5 * streets
        + 0.1 * houses["KitchenQual"].eq("Ex")
        + rng.normal(0, 0.08, count)
    )
    houses["SalePrice"] = (40_000 * np.exp(worth * 0.6)).round(-2).astype(int)
    write_csv(houses, raw / "train.csv")


def _numbers(values: str, count: int, rng: np.random.Generator) -> np.ndarray:
    low, high = values.split("..")
    return rng.integers(int(low), int(high), count, endpoint=True)


def _choices(values: str, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return random choices, the first options most often, as in the real table."""
    names = values.split(",")
    weights = 1 / np.arange(1, len(names) + 1)
    return rng.choice(names, count, p=weights / weights.sum())
