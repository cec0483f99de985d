"""The firings of a guild of potteries: what happened, what it burnt, and what the members wrote down."""

from __future__ import annotations

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.closed_form import distinct_numbers

BEGINNING = pd.Timestamp("2021-03-01 06:00")
WORKSHOPS = 90
VALLEYS = ["Arden", "Brisk", "Corrow", "Dunmere", "Elsey", "Farrow", "Gillan", "Hethel"]
BURNERS = [f"burner_{number}" for number in range(1, 6)]
CLAYS, ATMOSPHERES = "EFPST", "NOR"


def draw_firings(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """The firings in random order, all in metric units."""
    workshop = np.sort((WORKSHOPS * rng.beta(0.9, 1.5, rows)).astype(int))
    lit = BEGINNING + pd.to_timedelta(_lighting_hours(rng, workshop).round(1), unit="h")
    chamber = rng.lognormal(6.6, 0.5, WORKSHOPS).round(-1)[workshop]
    packing = rng.normal(-1.2, 0.35, rows) + rng.normal(0, 0.08, WORKSHOPS)[workshop]
    codes = [f"{clay}{air}-{stages}" for clay in CLAYS for air in ATMOSPHERES for stages in range(1, 7)]
    season = -np.cos((lit.dayofyear.to_numpy() - 20) * 2 * np.pi / 365)
    table = {
        "firing_id": [f"F{number:06d}" for number in distinct_numbers(rng, 900_000, rows)],
        "lit": lit.strftime("%Y-%m-%d %H:%M"),
        "valley": rng.choice(VALLEYS, WORKSHOPS)[workshop],
        "workshop": (rng.permutation(900)[:WORKSHOPS] + 100)[workshop],
        "programme": rng.choice(codes, rows),
        "chamber": chamber,
        "load": chamber * np.exp(packing),
        "peak": 1000 + 300 * rng.beta(2, 2, rows),
        "heating_hours": np.minimum(rng.lognormal(2.1, 0.35, rows), 16).round(2),
        "hold_minutes": rng.gamma(2.0, 25.0, rows).round(),
        "air": (9 + 10 * season + rng.normal(0, 4, rows)).round(1),
        "lining_age": _lining_ages(rng, workshop),
        "moisture": np.where(rng.random(rows) < 0.4, np.nan, 12 * rng.beta(1.5, 3.0, rows)).round(1),
        "damper": np.where(rng.random(rows) < 0.35, np.nan, 100 * rng.beta(2.0, 2.0, rows)).round(),
    }
    pressure, unevenness = rng.normal(30, 4, rows), rng.gamma(2.0, 1.5, rows)
    for name in BURNERS:
        table[name] = np.maximum(2, pressure + unevenness * rng.normal(size=rows)).round(1)
    table["meter"] = rng.choice(["digital", "dial"], WORKSHOPS, p=[0.6, 0.4])[workshop]
    return pd.DataFrame(table).iloc[rng.permutation(rows)].reset_index(drop=True)


def _lighting_hours(rng: np.random.Generator, workshop: np.ndarray) -> np.ndarray:
    """Hours since the log began; firings come in busy spells with longer rests between them."""
    rest = np.where(rng.random(len(workshop)) < 0.6, 18.0, 150.0)
    clock = np.cumsum(18 + rest * rng.exponential(size=len(workshop)))
    begins = np.searchsorted(workshop, workshop)
    return np.asarray(clock - clock[begins] + rng.uniform(0, 24 * 300, WORKSHOPS)[workshop])


def _lining_ages(rng: np.random.Generator, workshop: np.ndarray) -> np.ndarray:
    """Firings since the lining was renewed, which every workshop does after its own number of them."""
    lifetime = rng.integers(180, 480, WORKSHOPS)[workshop]
    firing = np.arange(len(workshop)) - np.searchsorted(workshop, workshop)
    return np.asarray((firing + rng.integers(0, 480, WORKSHOPS)[workshop]) % lifetime)


def draw_mechanism(rng: np.random.Generator, table: pd.DataFrame) -> np.ndarray:
    """The true logarithm of the gas burnt."""
    parts = programme_parts(table["programme"])
    clay, atmosphere = parts["clay"], parts["atmosphere"]
    pair = rng.normal(0, 0.22, (len(CLAYS), len(ATMOSPHERES)))[clay, atmosphere]
    stages = (parts["stages"] - 3.5) * rng.normal(0.05, 0.05, len(CLAYS))[clay]
    member = _group_effect(rng, table["workshop"], 0.28) + _group_effect(rng, table["valley"], 0.22)
    packing = np.log(table["load"] / table["chamber"])
    tight = rng.uniform(0.7, 1.1) * np.maximum(0, packing - rng.normal(-1.1, 0.1))
    rate = np.log((table["peak"] - table["air"]) / table["heating_hours"])
    hurry = rng.uniform(0.9, 1.3) * (rate - rng.normal(4.9, 0.12)) ** 2
    wear = rng.uniform(0.2, 0.3) * np.maximum(0, table["lining_age"] - rng.uniform(140, 190)) / 100
    leak = rng.uniform(0.12, 0.2) + 0.5 * wear + _group_effect(rng, table["workshop"], 0.10)
    holding = np.log1p(table["hold_minutes"] / 30) * leak
    warmth = -rng.uniform(0.5, 0.7) * np.exp(-rest_hours(table) / rng.uniform(24, 40))
    uneven = rng.uniform(0.06, 0.1) * table[BURNERS].std(axis=1)
    heat = rng.uniform(0.15, 0.25) * (table["peak"] - 1150) / 100
    water = (rng.uniform(0.03, 0.05) * table["moisture"]).fillna(-rng.uniform(0.1, 0.2))
    draught = rng.normal(0, 0.3, len(ATMOSPHERES))[atmosphere] * (table["damper"] / 50 - 1)
    draught = draught.fillna(-rng.uniform(0.15, 0.25))
    rebuilt = -rng.uniform(0.15, 0.25) * _after_rebuilding(rng, table)
    effects = pair + stages + member + rebuilt + tight + hurry + wear + holding + warmth + uneven
    effects += heat + water + draught
    size = rng.uniform(0.5, 0.7) * np.log(table["chamber"] / 700) + rng.uniform(0.2, 0.35) * (packing + 1.2)
    return np.asarray((np.log(rng.uniform(60, 120)) + effects - effects.mean() + size).to_numpy())


def _group_effect(rng: np.random.Generator, group: pd.Series, spread: float) -> np.ndarray:
    codes, names = pd.factorize(group, sort=True)
    return rng.normal(0, spread, len(names))[codes]


def _after_rebuilding(rng: np.random.Generator, table: pd.DataFrame) -> np.ndarray:
    """Which firings come after their kiln was rebuilt; most kilns were not, or before the log began."""
    share_of_log = pd.to_datetime(table["lit"]).groupby(table["workshop"]).rank(pct=True).to_numpy(float)
    return share_of_log > 0.5 + _group_effect(rng, table["workshop"], 1.0)


def record(rng: np.random.Generator, table: pd.DataFrame) -> None:
    """Turns temperatures and weights into what the workshop's instruments show, in place."""
    fahrenheit, pounds = (_group_effect(rng, table["workshop"], 1.0) > 0.5 for _ in range(2))
    table["peak"] = np.where(fahrenheit, table["peak"] * 1.8 + 32, table["peak"]).round()
    table["load"] = np.where(pounds, table["load"] / 0.4536, table["load"]).round(1)


def programme_parts(programme: pd.Series) -> dict[str, np.ndarray]:
    """Clay, atmosphere and number of stages as numbers."""
    return {
        "clay": programme.str[0].map(CLAYS.index).to_numpy(),
        "atmosphere": programme.str[1].map(ATMOSPHERES.index).to_numpy(),
        "stages": programme.str[3].astype(int).to_numpy(),
    }


def rest_hours(table: pd.DataFrame) -> np.ndarray:
    """Hours since the workshop's previous firing, at most 500."""
    hours = (pd.to_datetime(table["lit"]) - BEGINNING) / pd.Timedelta("1h")
    gaps = hours.sort_values().groupby(table["workshop"]).diff()
    return gaps.reindex(table.index).fillna(500).clip(upper=500).to_numpy()
