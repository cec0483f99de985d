"""Tabular regression: how much gas will a firing burn? Mixed units, warm kilns, ratios, unequal meters.

The mechanism multiplies effects that a default model on raw columns sees poorly: workshops within valleys,
the parts of a programme code and how they interact, heating rate and packing (ratios of columns that some
workshops fill in Fahrenheit or pounds), the spread between burners, heat left from the workshop's previous
firing, a lining whose wear matters past a limit and kilns rebuilt on the way. Two columns have blanks with a
meaning. The noise depends on the meter, and some train readings have a slipped decimal point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.closed_form import Matrices, linear, read_once, smooth
from podium.catalog.forge.entrants.learners import (
    Model,
    boosting,
    default_model,
    ordinal_encoding,
    scaled,
    target_encoding,
)
from podium.catalog.forge.families.tabular_regression_data import (
    ATMOSPHERES,
    BURNERS,
    CLAYS,
    VALLEYS,
    draw_firings,
    draw_mechanism,
    programme_parts,
    record,
    rest_hours,
)
from podium.catalog.forge.family import Family, ForgedData, Pipeline, Predict, PublicData
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.brief import ID_AND_TARGET, TASKS
from podium.catalog.forge.world.retelling import TIME_NAMES, UNDATED, VOLUMES, OwnColumn, Retelling, told_as
from podium.metrics import rmsle
from podium.task import Columns, Number

TRAIN_ROWS = {"easy": 3800, "medium": 3200, "hard": 2600, "tiny": 120}
NOISE = {
    "easy": {"digital": 0.05, "dial": 0.12},
    "medium": {"digital": 0.07, "dial": 0.18},
    "hard": {"digital": 0.10, "dial": 0.25},
    "tiny": {"digital": 0.05, "dial": 0.12},
}
SLIPPED = {"easy": 0.01, "medium": 0.02, "hard": 0.03, "tiny": 0.01}
DISTRACTORS = {"easy": 2, "medium": 5, "hard": 9, "tiny": 2}
TEST_ROWS = {"easy": 4000, "medium": 4000, "hard": 4000, "tiny": 80}
CURVES = ("packing", "rate", "rest", "lining_age", "hold_minutes", "moisture", "damper")
STRAIGHT = ("size", "peak", "spread", "stages", "refired", "undamped")

Tables = tuple[Any, np.ndarray, Any]
"""Features of the train rows, their gas, features of the test rows."""
Columned = Callable[[PublicData, np.random.Generator], Tables]

SUBMISSION = Columns(id="firing_id", target="gas", values=Number(low=0))

RETELLING = Retelling(
    asked="the {fuel} that each {row} takes",
    opening=(UNDATED, TASKS),
    nouns={
        "machine": ("furnace", "muffle", "smelter", "incinerator", "glass oven", "cupola", "crucible oven", "calciner"),
        "fuel": ("gas", "propane", "butane", "town gas", "biogas", "methane", "wood gas"),
        "exact": ("digital", "electronic", "sealed", "certified", "new"),
        "crude": ("analogue", "old", "mechanical", "borrowed", "unsealed"),
    },
    columns=(
        OwnColumn("firing_id", "{row}", "identifier", "key"),
        OwnColumn("lit", TIME_NAMES, "when the {machine} was lit (local time)"),
        OwnColumn("valley", "{region}", "the {region} of the {parent}", values=told_as("name", VALLEYS)),
        OwnColumn("workshop", "{parent}", "number of the {parent}", "key"),
        OwnColumn("programme", "{machine} programme/plan/setting", "such as `PR-4`: {category}, draught and stages"),
        OwnColumn("chamber", "chamber|inner volume|{machine} size|room", "volume of the {machine}", "number", VOLUMES),
        OwnColumn("load", "charge|filling|content weight|burden", "weight of what is put in", "number"),
        OwnColumn("peak", "peak|highest heat|top temperature|summit", "highest temperature", "number"),
        OwnColumn("heating_hours", "heating time|rise|climb|warm up", "hours from lighting to `{peak}`", "number"),
        OwnColumn("hold_minutes", "hold|plateau|dwell|soak", "minutes held at `{peak}`", "number"),
        OwnColumn("air", "outdoor air|weather|air outside|yard air", "outdoor temperature [°C]", "number"),
        OwnColumn("lining_age", "lining age|lining use|wear|wall age", "{rows} since the lining was renewed", "number"),
        OwnColumn("moisture", "moisture/wetness/damp", "water in what is put in [%]; empty if heated before", "number"),
        OwnColumn("damper", "damper/flap/vent", "opening of the damper [%]; empty if it regulates itself", "number"),
        OwnColumn("burner_#", "{name18} burner/nozzle/jet/flame", "pressure at the burners [mbar]", "number"),
        OwnColumn("meter", "meter/counter kind", "kind of meter", values={"digital": "{exact}", "dial": "{crude}"}),
        OwnColumn("gauge_#", "{name19} gauge/dial/probe", "further gauges, in their own units", "number"),
        OwnColumn("gas", "{fuel} burnt/used/taken", "{fuel} burnt", "number", {"m³": 1, "kg": 1}, file="train"),
    ),
    notes=(
        "Every {parent} of {place} has one {machine}, which is lit once for each {row}.",
        "The log of {place} has all {rows} of every {parent}; lot decided which are in `test.csv`.",
        "Not all scales and thermometers in {place} show the same units, and everybody writes down what they show.",
        "In {place} {exact} meters are good to about {digital:.0%} (one standard deviation), "
        "{crude} ones to about {dial:.0%}.",
        "In about {slipped:.0%} of the rows of `train.csv` the decimal point of `{gas}` slipped by one place; "
        "the readings of `test.csv` were checked.",
    ),
    metric="The root mean squared logarithmic error (RMSLE).\nThe root of the mean of "
    "(ln(1 + predicted) − ln(1 + actual))² over all `{target}`.\nLower is better.",
    form=f"{ID_AND_TARGET}\n`{{target}}` is not negative.",
    facts=lambda difficulty: {"slipped": SLIPPED[difficulty], **NOISE[difficulty]},
)


def draw(rng: np.random.Generator, difficulty: Difficulty) -> ForgedData:
    """Draws the firings, then the mechanism, then what meters and members make of it."""
    cut = TRAIN_ROWS[difficulty]
    rows = cut + TEST_ROWS[difficulty]
    table = draw_firings(rng, rows)
    expected = draw_mechanism(rng, table)
    gas = np.exp(expected + table["meter"].map(NOISE[difficulty]).to_numpy() * rng.normal(size=rows))
    slips = np.where(rng.random(cut) < SLIPPED[difficulty], rng.choice([0.1, 10.0], cut), 1.0)
    record(rng, table)
    for number in range(1, DISTRACTORS[difficulty] + 1):
        table[f"gauge_{number}"] = rng.gamma(4.0, 2.5, rows).round(2)
    test = table.iloc[cut:].reset_index(drop=True)
    answers = pd.DataFrame({"firing_id": test["firing_id"], "gas": gas[cut:].round(2)})
    return ForgedData(
        public=PublicData(train=table.iloc[:cut].assign(gas=(gas[:cut] * slips).round(2)), test=test),
        answers=answers,
        sample=answers.assign(gas=100.0),
        ceiling=np.exp(expected[cut:]),
    )


def as_is(data: PublicData, rng: np.random.Generator) -> Tables:
    """The columns unchanged, except that texts become category numbers."""
    train, test = ordinal_encoding(data.train.drop(columns=["firing_id", "gas"]), data.test.iloc[:, 1:])
    return train, data.train["gas"].to_numpy(), test


def numbers(data: PublicData, rng: np.random.Generator) -> Tables:
    """The numeric columns, standardised."""
    from sklearn.preprocessing import StandardScaler

    columns = data.test.select_dtypes("number").columns.drop("workshop")
    middle = data.train[columns].median()
    train, test = (frame[columns].fillna(middle) for frame in (data.train, data.test))
    scaler = StandardScaler().fit(train)
    return scaler.transform(train), data.train["gas"].to_numpy(), scaler.transform(test)


def parsed(data: PublicData, rng: np.random.Generator) -> Tables:
    return _parse(data.train), data.train["gas"].to_numpy(), _parse(data.test)


def _parse(table: pd.DataFrame) -> pd.DataFrame:
    """Return the features that the data dictionary suggests: parts of codes, ratios, the burners' spread."""
    parts = programme_parts(table["programme"])
    plain = table.drop(columns=["firing_id", "lit", "programme", "gas"], errors="ignore")
    return plain.assign(
        **parts,
        valley=table["valley"].map(VALLEYS.index),
        meter=(table["meter"] == "dial").astype(int),
        pair=parts["clay"] * 10 + parts["atmosphere"],
        size=np.log(table["chamber"]),
        packing=np.log(table["load"] / table["chamber"]),
        rate=np.log((table["peak"] - table["air"]) / table["heating_hours"]),
        spread=table[BURNERS].std(axis=1),
        refired=table["moisture"].isna().astype(int),
        undamped=table["damper"].isna().astype(int),
    )


def cleaned(data: PublicData, rng: np.random.Generator) -> Tables:
    """Parsed columns in equal units, the rest since the kiln's last firing, decimal points put back."""
    table = pd.concat([data.train, data.test], ignore_index=True)
    fill = (table["load"] / table["chamber"]).groupby(table["workshop"]).transform("median")
    pounds = fill > np.sqrt(fill.quantile(0.05) * fill.quantile(0.95))
    table["load"] = table["load"].where(~pounds, table["load"] * 0.4536)
    table["peak"] = table["peak"].where(table["peak"] < 1400, (table["peak"] - 32) / 1.8)
    features = _parse(table).assign(rest=rest_hours(table))
    train, test = features.iloc[: len(data.train)], features.iloc[len(data.train) :]
    gas = data.train["gas"].to_numpy()
    estimate = _curve_model(STRAIGHT, strength=3.0, knots=5).fit(train, np.log(gas)).predict(train)
    return train, gas / 10 ** np.round(np.log10(gas) - estimate / np.log(10)), test


def encoded(data: PublicData, rng: np.random.Generator) -> Tables:
    """Cleaned columns and the mean reading of groups."""
    train, gas, test = cleaned(data, rng)
    smoothing = float(rng.choice([3, 6, 12]))
    for name in ("workshop", "pair", "valley"):
        inside, outside = target_encoding(train[name], np.log(gas), test[name], smoothing=smoothing, rng=rng)
        train, test = train.assign(**{f"{name}_mean": inside}), test.assign(**{f"{name}_mean": outside})
    return train.fillna(0), gas, test.fillna(0)


def crossed(data: PublicData, rng: np.random.Generator) -> Tables:
    """Cleaned columns and products of those that work together."""
    train, gas, test = cleaned(data, rng)
    return _cross(train), gas, _cross(test)


def _cross(features: pd.DataFrame) -> pd.DataFrame:
    hold, opening = np.log1p(features["hold_minutes"] / 30), features["damper"].fillna(50) / 50 - 1
    products = {f"by_wear_{limit}": np.maximum(0, features["lining_age"] - limit) * hold for limit in (140, 180)}
    for clay in range(len(CLAYS)):
        products[f"by_clay_{clay}"] = (features["clay"] == clay) * (features["stages"] - 3.5)
    for atmosphere in range(len(ATMOSPHERES)):
        products[f"by_atmosphere_{atmosphere}"] = (features["atmosphere"] == atmosphere) * opening
    return features.assign(**products)


def learner(columns: Columned, model: Model, *, logarithm: bool = True) -> Predict:
    """A pipeline that fits a model to columns and the gas, or rather its logarithm."""

    def predict(data: PublicData, rng: np.random.Generator) -> np.ndarray:
        train, gas, test = columns(data, rng)
        if logarithm:
            return np.asarray(np.exp(model(rng).fit(train, np.log(gas)).predict(test)))
        return np.asarray(np.maximum(model(rng).fit(train, gas).predict(test), 0))

    return predict


def default(model: str, *, columns: Columned = as_is, logarithm: bool = False) -> Pipeline:
    """A model of scikit-learn with its default settings, such as `linear_model.Ridge`."""
    title = f"{model.split('.')[1]}()" + (" on the logarithm" if logarithm else "")
    return Pipeline(title, "plain", learner(columns, default_model(model), logarithm=logarithm), 0)


def constant(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """One number for everything."""
    return np.full(len(data.test), np.quantile(data.train["gas"], rng.uniform(0.3, 0.8)))


def group_medians(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    group = rng.choice(["programme", "valley", "workshop"])
    medians = data.train["gas"].groupby(data.train[group]).median()
    return np.asarray(data.test[group].map(medians).fillna(data.train["gas"].median()).to_numpy())


def neighbours(rng: np.random.Generator) -> Any:
    from sklearn.neighbors import KNeighborsRegressor

    return KNeighborsRegressor(int(rng.integers(5, 50)))


def tree(rng: np.random.Generator) -> Any:
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(max_depth=int(rng.integers(3, 9)), random_state=int(rng.integers(2**31)))


def ridge(rng: np.random.Generator) -> Any:
    from sklearn.linear_model import Ridge

    return Ridge(10 ** rng.uniform(-1, 3.5))


def forest(rng: np.random.Generator) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    leaf, share = int(rng.integers(1, 6)), float(rng.choice([0.4, 0.7]))
    trees, state = int(rng.integers(25, 50)), int(rng.integers(2**31))
    return RandomForestRegressor(trees, min_samples_leaf=leaf, max_features=share, random_state=state)


def quick_boosting(rng: np.random.Generator) -> Any:
    return boosting(rng, classify=False)


def patient_boosting(rng: np.random.Generator) -> Any:
    """Many small trees: readings this precise reward them."""
    rate, rounds = rng.uniform(0.07, 0.12), int(rng.integers(200, 350))
    return boosting(rng, classify=False, learning_rate=rate, max_iter=rounds, max_leaf_nodes=8)


def kernel_machine(rng: np.random.Generator) -> Any:
    from sklearn.svm import SVR

    machine = SVR(C=rng.uniform(1, 3), epsilon=rng.uniform(0.05, 0.12), gamma=rng.uniform(0.006, 0.012))
    return scaled(machine)


def curve_learner(columns: Columned, *, trees: bool) -> Predict:
    """A pipeline that fits curves and groups and then, perhaps, boosting to what they leave over."""

    def predict(data: PublicData, rng: np.random.Generator) -> np.ndarray:
        train, gas, test = columns(data, rng)
        model = _fit_curves(train, gas, rng)
        logarithm = model.predict(test)
        if trees:
            remainder = np.log(gas) - model.predict(train)
            logarithm += patient_boosting(rng).fit(train, remainder).predict(test)
        return np.asarray(np.exp(logarithm))

    return predict


def _fit_curves(train: pd.DataFrame, gas: np.ndarray, rng: np.random.Generator) -> Any:
    """A linear model of curves and groups, in which careful readings count more."""
    products = [name for name in train.columns if name.startswith("by_")]
    strength, knots = 10 ** rng.uniform(-1, 0.6), int(rng.integers(4, 9))
    model = _curve_model((*STRAIGHT, *products), strength=strength, knots=knots)
    return model.fit(train, np.log(gas), ridge__sample_weight=np.where(train["meter"] == 1, 0.15, 1.0))


def _curve_model(straight: tuple[str, ...], *, strength: float, knots: int) -> Any:
    """Every category as its own column, curves as splines, the rest straight, in one ridge regression."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler

    splines = make_pipeline(SimpleImputer(strategy="median"), SplineTransformer(knots, knots="quantile"))
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["workshop", "valley", "pair"]),
        (splines, list(CURVES)),
        (StandardScaler(), list(straight)),
    )
    return make_pipeline(columns, Ridge(strength))


@read_once
def number_columns(data: PublicData) -> Matrices:
    train, gas, test = numbers(data, np.random.default_rng(0))
    return train, np.log(gas), test


@read_once
def parsed_columns(data: PublicData) -> Matrices:
    train, test = _parse(data.train), _parse(data.test)
    return train.to_numpy(float), np.log(data.train["gas"].to_numpy()), test.to_numpy(float)


@read_once
def grouped_columns(data: PublicData) -> Matrices:
    """Parsed columns with one for every workshop, valley and pair of clay and atmosphere."""
    tables = [_parse(data.train), _parse(data.test)]
    for name in ("workshop", "valley", "pair"):
        groups = np.unique(tables[0][name])
        tables = [table.join(pd.DataFrame(table[[name]].to_numpy() == groups).add_prefix(name)) for table in tables]
    train, test = (table.to_numpy(float) for table in tables)
    return train, np.log(data.train["gas"].to_numpy()), test


family = Family(
    name="tabular-regression",
    title="How much will it burn?",
    kind="tabular regression",
    metric=rmsle,
    submission=SUBMISSION,
    draw=RETELLING.drawn(draw),
    form=RETELLING.form_of(SUBMISSION),
    pipelines=(
        Pipeline("one number", "naive", constant, 3),
        Pipeline("median of a group", "naive", group_medians, 3),
        Pipeline("nearest neighbours", "naive", learner(numbers, neighbours), 4),
        Pipeline("decision tree", "naive", learner(as_is, tree), 4),
        Pipeline("linear on numbers", "plain", learner(numbers, ridge), 5),
        Pipeline("random forest as is", "plain", learner(as_is, forest, logarithm=False), 5),
        Pipeline("boosting as is", "plain", learner(as_is, quick_boosting, logarithm=False), 4),
        Pipeline("boosting as is, log target", "plain", learner(as_is, quick_boosting), 5),
        Pipeline("boosting on parsed columns", "plain", learner(parsed, quick_boosting), 3),
        Pipeline("boosting on cleaned columns", "good", learner(cleaned, patient_boosting), 5),
        Pipeline("kernel machine on encodings", "good", learner(encoded, kernel_machine), 4),
        Pipeline("boosting on encodings", "good", learner(encoded, patient_boosting), 7),
        Pipeline("curves", "good", curve_learner(cleaned, trees=False), 4),
        Pipeline("curves, then boosting", "expert", curve_learner(cleaned, trees=True), 5),
        Pipeline("curves and products", "expert", curve_learner(crossed, trees=False), 4),
        Pipeline("curves and products, then boosting", "expert", curve_learner(crossed, trees=True), 6),
    ),
    defaults=(
        default("linear_model.Ridge", columns=numbers),
        default("ensemble.RandomForestRegressor"),
        default("ensemble.HistGradientBoostingRegressor"),
        default("ensemble.HistGradientBoostingRegressor", logarithm=True),
    ),
    tiny=(
        Pipeline("one number", "naive", constant, 3),
        Pipeline("median of a group", "naive", group_medians, 2),
        Pipeline("linear on numbers", "plain", linear(number_columns, (1, 3), np.exp), 5),
        Pipeline("kernel on numbers", "plain", smooth(number_columns, (-1, 1), np.exp), 4),
        Pipeline("linear on parsed columns", "good", linear(parsed_columns, (0, 2), np.exp), 5),
        Pipeline("kernel on parsed columns", "good", smooth(parsed_columns, (-1, 0), np.exp), 3),
        Pipeline("linear on grouped columns", "expert", linear(grouped_columns, (1, 2.5), np.exp), 4),
    ),
)
