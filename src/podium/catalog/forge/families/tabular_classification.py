"""Tabular classification: which shipments come back? Codes with parts, ratios, blanks with a meaning, loyal customers.

The mechanism adds up effects that a default model on raw columns sees poorly: the parts of a route code and how they
interact, a ratio with a best range, a weighted sum of many weak sensors, random effects of customers, the hour and the
weekday, and two columns whose blanks say something. A share of the labels is flipped.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.closed_form import Matrices, distinct_numbers, read_once, smooth
from podium.catalog.forge.entrants.closed_form import linear as ridge
from podium.catalog.forge.entrants.learners import (
    boosting,
    forest,
    frequency_encoding,
    ordinal_encoding,
    rank_average,
    scaled,
    subsample,
    target_encoding,
)
from podium.catalog.forge.family import Family, ForgedData, Pipeline, PublicData
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.brief import ID_AND_TARGET, MIXED
from podium.catalog.forge.world.retelling import (
    ANSWER_NAMES,
    MASSES,
    MONEY,
    TIME_NAMES,
    VOLUMES,
    OwnColumn,
    Retelling,
)
from podium.metrics import roc_auc
from podium.task import Columns, Number

TRAIN_ROWS = {"easy": 3600, "medium": 3000, "hard": 2400, "tiny": 120}
FLIPPED = {"easy": 0.02, "medium": 0.05, "hard": 0.10, "tiny": 0.02}
DISTRACTORS = {"easy": 2, "medium": 5, "hard": 10, "tiny": 2}
TEST_ROWS = {"easy": 4000, "medium": 4000, "hard": 4000, "tiny": 80}
CUSTOMERS = 260
DAYS = 500
SENSORS = [f"reading_{number}" for number in range(1, 9)]

SUBMISSION = Columns(id="shipment_id", target="returned", values=Number(0, 1))

RETELLING = Retelling(
    asked="the probability that {event}",
    columns=(
        OwnColumn("shipment_id", "{row}", "identifier", "key"),
        OwnColumn("placed", TIME_NAMES, "when it was agreed on (local time)"),
        OwnColumn("route", "{row} code/scheme/sign", "such as `W07-C3`: {other}, {category} and {region}"),
        OwnColumn("customer", "{parent}", "number of the {parent}; many come again and again", "key"),
        OwnColumn("weight", "mass|weight|burden|gross weight", "weight of the gear used", "number", MASSES),
        OwnColumn("volume", "volume|bulk|space|packed size", "volume of the same gear", "number", VOLUMES),
        OwnColumn("price", "list price|tariff|full charge|standard fee|rate", "price by the list", "number", MONEY),
        OwnColumn("paid", "paid|settled sum|invoice|amount due", "what was paid of `{price}`", "number", MONEY),
        OwnColumn("insured_value", "cover|insured/declared value", "sum insured; empty if none was", "number", MONEY),
        OwnColumn(
            "last_claim_days", "claim/complaint gap", "days since its last claim; empty if none is known", "number"
        ),
        OwnColumn("reading_#", "{name18} {record}", "{records}, in arbitrary units", "number"),
        OwnColumn("extra_#", "{name19} {other} check/figure", "further figures from the {other}", "number"),
        OwnColumn("returned", ANSWER_NAMES, "1 if this happened, 0 if not", file="train"),
    ),
    notes=(
        "About {flipped:.0%} of all entries of `{returned}` are wrong, in `train.csv` and `test.csv` alike.",
        MIXED[0],
    ),
    metric="The area under the ROC curve (ROC AUC).\nHigher is better.",
    form=f"{ID_AND_TARGET}\n`{{target}}` lies between 0 and 1.",
    facts=lambda difficulty: {"flipped": FLIPPED[difficulty], "days": DAYS},
)


def draw(rng: np.random.Generator, difficulty: Difficulty) -> ForgedData:
    """Draws the shipments, then the mechanism, then the noise."""
    rows = TRAIN_ROWS[difficulty] + TEST_ROWS[difficulty]
    table = _shipments(rng, rows)
    logit = _mechanism(rng, table)
    _blank_out(rng, table, logit)
    for number in range(1, DISTRACTORS[difficulty] + 1):
        table[f"extra_{number}"] = rng.normal(size=rows).round(3)
    chance = 1 / (1 + np.exp(-logit))
    outcome = rng.random(rows) < chance
    flipped = rng.random(rows) < FLIPPED[difficulty]
    target = (outcome ^ flipped).astype(int)
    cut = TRAIN_ROWS[difficulty]
    test = table.iloc[cut:].reset_index(drop=True)
    answers = pd.DataFrame({"shipment_id": test["shipment_id"], "returned": target[cut:]})
    return ForgedData(
        public=PublicData(train=table.iloc[:cut].assign(returned=target[:cut]), test=test),
        answers=answers,
        sample=answers.assign(returned=0.5),
        ceiling=chance[cut:],
    )


def _shipments(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    placed = pd.Timestamp("2023-01-02") + pd.to_timedelta(rng.integers(0, DAYS * 24 * 60, rows), unit="min")
    warehouse, carrier, zone = rng.integers(1, 13, rows), rng.integers(0, 6, rows), rng.integers(1, 6, rows)
    price = rng.lognormal(3.5, 0.9, rows)
    table = {
        "shipment_id": [f"S{number:06d}" for number in distinct_numbers(rng, 900_000, rows)],
        "placed": placed.strftime("%Y-%m-%d %H:%M"),
        "route": [f"W{w:02d}-{'ABCDEF'[c]}{z}" for w, c, z in zip(warehouse, carrier, zone, strict=True)],
        "customer": rng.permutation(90_000)[:CUSTOMERS][(CUSTOMERS * rng.beta(0.8, 1.6, rows)).astype(int)] + 10_000,
        "weight": rng.lognormal(1.0, 0.9, rows).round(3),
        "volume": rng.lognormal(2.5, 0.9, rows).round(2),
        "price": price.round(2),
        "paid": (price * (1 - 0.5 * rng.beta(1.2, 3.0, rows))).round(2),
        "insured_value": (price * rng.lognormal(0, 0.3, rows)).round(2),
        "last_claim_days": rng.gamma(2.0, 60.0, rows).round(),
    }
    common = rng.normal(size=rows)
    for name in SENSORS:
        table[name] = (rng.normal(size=rows) + 0.4 * common).round(3)
    return pd.DataFrame(table)


def _mechanism(rng: np.random.Generator, table: pd.DataFrame) -> np.ndarray:
    """The true logit of a return."""
    parts = route_parts(table["route"])
    pair = rng.normal(0, 1.0, (6, 6))[parts["carrier"], parts["zone"]]
    house = rng.normal(0, 0.5, 13)[parts["warehouse"]]
    accounts = table["customer"].astype("category").cat.codes.to_numpy()
    loyalty = rng.normal(0, 0.9, CUSTOMERS)[accounts]
    density = np.log((table["weight"] / table["volume"]).to_numpy())
    best = rng.normal(np.median(density), 0.3)
    fit = -np.exp(-((density - best) ** 2) / 0.6)
    discount = (1 - table["paid"] / table["price"]).to_numpy()
    bargain = np.tanh((discount - rng.uniform(0.12, 0.2)) * 14)
    readings = table[SENSORS].to_numpy() @ rng.choice([-1, 1], len(SENSORS)) * rng.uniform(0.7, 1.0)
    moment = pd.to_datetime(table["placed"])
    hour = np.cos((moment.dt.hour.to_numpy() - rng.integers(0, 24)) * 2 * np.pi / 24)
    weekday = rng.normal(0, 0.4, 7)[moment.dt.dayofweek.to_numpy()]
    logit = pair + house + loyalty + 2.2 * fit + 0.8 * bargain + 0.5 * readings + 0.8 * hour + weekday
    logit += 0.8 * np.sign(fit + 0.5) * bargain
    return np.asarray(1.1 * (logit - logit.mean()))


def _blank_out(rng: np.random.Generator, table: pd.DataFrame, logit: np.ndarray) -> None:
    """Makes blanks that depend on the outcome's chance, and adds their meaning to it in place."""
    undeclared = rng.random(len(table)) < 1 / (1 + np.exp(-(table["price"].rank(pct=True) - 0.7) * -6))
    logit += np.where(undeclared, 0.7, -0.3)
    table.loc[undeclared, "insured_value"] = np.nan
    no_claim = rng.random(len(table)) < 0.55
    logit += np.where(no_claim, -0.6, 0.6 * np.exp(-table["last_claim_days"] / 60))
    table.loc[no_claim, "last_claim_days"] = np.nan


def route_parts(route: pd.Series) -> dict[str, np.ndarray]:
    """Warehouse, carrier and zone as numbers."""
    return {
        "warehouse": route.str[1:3].astype(int).to_numpy(),
        "carrier": route.str[4].map("ABCDEF".index).to_numpy(),
        "zone": route.str[5].astype(int).to_numpy(),
    }


def _plain_columns(data: PublicData) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The columns unchanged, except that texts become category numbers."""
    train, test = ordinal_encoding(data.train.drop(columns=["shipment_id", "returned"]), data.test.iloc[:, 1:])
    return train, data.train["returned"].to_numpy(), test


def _numeric_columns(data: PublicData) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    columns = data.test.select_dtypes("number").columns
    middle = data.train[columns].median()
    train, test = (frame[columns].fillna(middle).to_numpy() for frame in (data.train, data.test))
    return train, data.train["returned"].to_numpy(), test


def _features(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the features that an analyst would add in an hour."""
    parts = route_parts(frame["route"])
    moment = pd.to_datetime(frame["placed"])
    numbers = frame.drop(columns=["shipment_id", "placed", "route", "customer", "returned"], errors="ignore")
    return numbers.assign(
        **parts,
        pair=parts["carrier"] * 10 + parts["zone"],
        hour=moment.dt.hour,
        hour_sin=np.sin(moment.dt.hour * 2 * np.pi / 24),
        hour_cos=np.cos(moment.dt.hour * 2 * np.pi / 24),
        weekday=moment.dt.dayofweek,
        density=np.log(frame["weight"] / frame["volume"]),
        discount=1 - frame["paid"] / frame["price"],
        uninsured=frame["insured_value"].isna().astype(int),
        no_claim=frame["last_claim_days"].isna().astype(int),
        cover=frame["insured_value"] / frame["price"],
    )


def _encoded(data: PublicData, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Features plus encodings of the customer and of the route's parts."""
    train, test = _features(data.train), _features(data.test)
    target = data.train["returned"].to_numpy()
    smoothing = float(rng.choice([5, 10, 20]))
    columns = {"customer": (data.train["customer"], data.test["customer"])}
    columns |= {name: (train[name], test[name]) for name in ("pair", "warehouse", "weekday")}
    for name, (known, wanted) in columns.items():
        train[f"{name}_mean"], test[f"{name}_mean"] = target_encoding(
            known, target, wanted, smoothing=smoothing, rng=rng
        )
    train["customer_count"], test["customer_count"] = frequency_encoding(data.train["customer"], data.test["customer"])
    return train, target, test


def constant(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """The share of returns per weight class of one column: barely better than nothing."""
    column = rng.choice(["weight", "price", "volume", "reading_1"])
    train = pd.qcut(data.train[column], 4, labels=False)
    edges = np.quantile(data.train[column], [0.25, 0.5, 0.75])
    means = data.train["returned"].groupby(train).mean().to_numpy()
    return np.asarray(means[np.searchsorted(edges, data.test[column])])


def linear(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression

    train, target, test = _numeric_columns(data)
    rows = subsample(len(train), rng.uniform(0.5, 1), rng)
    model = scaled(LogisticRegression(C=10 ** rng.uniform(-3, 1)))
    return np.asarray(model.fit(train[rows], target[rows]).predict_proba(test)[:, 1])


def neighbours(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    from sklearn.neighbors import KNeighborsClassifier

    train, target, test = _numeric_columns(data)
    model = scaled(KNeighborsClassifier(int(rng.integers(5, 80))))
    return np.asarray(model.fit(train, target).predict_proba(test)[:, 1])


def bayes(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    from sklearn.naive_bayes import GaussianNB

    train, target, test = _numeric_columns(data)
    return np.asarray(GaussianNB(var_smoothing=10 ** rng.uniform(-9, -4)).fit(train, target).predict_proba(test)[:, 1])


def tree(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    from sklearn.tree import DecisionTreeClassifier

    train, target, test = _plain_columns(data)
    model = DecisionTreeClassifier(max_depth=int(rng.integers(3, 9)), random_state=int(rng.integers(2**31)))
    return np.asarray(model.fit(np.nan_to_num(train, nan=-1), target).predict_proba(np.nan_to_num(test, nan=-1))[:, 1])


def plain_forest(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    train, target, test = _plain_columns(data)
    model = forest(trees=(40, 120))(rng)
    return np.asarray(model.fit(np.nan_to_num(train, nan=-1), target).predict_proba(np.nan_to_num(test, nan=-1))[:, 1])


def plain_boosting(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    train, target, test = _plain_columns(data)
    return np.asarray(boosting(rng, classify=True, learning_rate=0.1).fit(train, target).predict_proba(test)[:, 1])


def parsed_forest(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    from sklearn.ensemble import ExtraTreesClassifier

    train, test = _features(data.train).fillna(-1), _features(data.test).fillna(-1)
    model = ExtraTreesClassifier(
        int(rng.integers(80, 160)), min_samples_leaf=3, max_features=0.5, random_state=int(rng.integers(2**31))
    )
    return np.asarray(model.fit(train, data.train["returned"]).predict_proba(test)[:, 1])


def parsed_boosting(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    train, test = _features(data.train), _features(data.test)
    return np.asarray(boosting(rng, classify=True).fit(train, data.train["returned"]).predict_proba(test)[:, 1])


def encoded_boosting(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    train, target, test = _encoded(data, rng)
    return np.asarray(boosting(rng, classify=True).fit(train, target).predict_proba(test)[:, 1])


def engineered_linear(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Every category as its own column, curves as splines, one regularised linear model."""
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler

    train, test = (_features(frame).assign(customer=frame["customer"]) for frame in (data.train, data.test))
    middle = train.median()
    train, test = train.fillna(middle), test.fillna(middle)
    curves = ["density", "discount", "hour", "last_claim_days", "cover"]
    categories = ["customer", "pair", "warehouse", "carrier", "zone", "weekday"]
    straight = [name for name in train.columns if name not in {*curves, *categories}]
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), categories),
        (SplineTransformer(n_knots=int(rng.integers(6, 10))), curves),
        (StandardScaler(), straight),
    )
    model = make_pipeline(columns, LogisticRegression(C=10 ** rng.uniform(-1.2, 0.2), max_iter=300))
    return np.asarray(model.fit(train, data.train["returned"]).predict_proba(test)[:, 1])


def blend(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Boosting on encodings, averaged over seeds, with the engineered linear model."""
    boosted = [encoded_boosting(data, rng) for _ in range(3)]
    return rank_average(rank_average(*boosted), engineered_linear(data, rng))


@read_once
def number_columns(data: PublicData) -> Matrices:
    return _numeric_columns(data)


@read_once
def parsed_columns(data: PublicData) -> Matrices:
    """Return the features that the description suggests: parts of codes, ratios, blanks."""
    train, test = _features(data.train), _features(data.test)
    return train.to_numpy(float), data.train["returned"].to_numpy(float), test.to_numpy(float)


@read_once
def crossed_columns(data: PublicData) -> Matrices:
    """The same with a column for every pair of carrier and zone, and a bend in the ratios."""
    train, target, test = parsed_columns(data)
    codes = [frame["route"].str[4:].to_numpy(str)[:, None] for frame in (data.train, data.test)]
    train, test = (
        np.column_stack([rows, np.tanh(rows), code == np.unique(codes[0])])
        for rows, code in zip((train, test), codes, strict=True)
    )
    return train, target, test


def default_boosting(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    from sklearn.ensemble import HistGradientBoostingClassifier

    train, target, test = _plain_columns(data)
    return np.asarray(HistGradientBoostingClassifier(random_state=0).fit(train, target).predict_proba(test)[:, 1])


def default_forest(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    from sklearn.ensemble import RandomForestClassifier

    train, target, test = _plain_columns(data)
    model = RandomForestClassifier(random_state=0).fit(np.nan_to_num(train, nan=-1), target)
    return np.asarray(model.predict_proba(np.nan_to_num(test, nan=-1))[:, 1])


family = Family(
    name="tabular-classification",
    title="Will it turn out badly?",
    kind="tabular classification",
    metric=roc_auc,
    submission=SUBMISSION,
    draw=RETELLING.drawn(draw),
    form=RETELLING.form_of(SUBMISSION),
    pipelines=(
        Pipeline("one column", "naive", constant, 4),
        Pipeline("naive Bayes", "naive", bayes, 3),
        Pipeline("nearest neighbours", "naive", neighbours, 4),
        Pipeline("decision tree", "naive", tree, 4),
        Pipeline("linear on numbers", "plain", linear, 6),
        Pipeline("random forest as is", "plain", plain_forest, 7),
        Pipeline("boosting as is", "plain", plain_boosting, 8),
        Pipeline("extra trees on parsed columns", "good", parsed_forest, 5),
        Pipeline("boosting on parsed columns", "good", parsed_boosting, 8),
        Pipeline("boosting on encodings", "good", encoded_boosting, 7),
        Pipeline("engineered linear model", "expert", engineered_linear, 5),
        Pipeline("blend", "expert", blend, 5),
    ),
    defaults=(
        Pipeline("HistGradientBoostingClassifier()", "plain", default_boosting, 0),
        Pipeline("RandomForestClassifier()", "plain", default_forest, 0),
    ),
    tiny=(
        Pipeline("one column", "naive", constant, 3),
        Pipeline("linear on numbers", "plain", ridge(number_columns, (0, 3)), 5),
        Pipeline("kernel on numbers", "plain", smooth(number_columns, (-1, 1)), 4),
        Pipeline("linear on parsed columns", "good", ridge(parsed_columns, (0, 3)), 5),
        Pipeline("kernel on parsed columns", "good", smooth(parsed_columns, (-1, 1)), 4),
        Pipeline("linear on crossed columns", "expert", ridge(crossed_columns, (1.5, 2.5)), 4),
    ),
)
