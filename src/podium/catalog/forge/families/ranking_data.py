"""A garden cooperative: its goods, its members, and month after month what they look at and order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

ITEMS = 220
MONTHS = 17
"""Months of four weeks in the log; the one to predict comes after them."""
DAYS = 28
YEAR = 13
FIRST_DAY = pd.Timestamp("2022-02-07")
SHELVES = ("bulbs", "compost", "feed", "herbs", "pots", "seeds", "tools", "trellis")
PLOTS = ("allotment", "balcony", "courtyard", "orchard", "smallholding")
QUARTERS = ("hill", "lake", "north", "old town", "south")
GROWERS = tuple("ABCDEFGHIJ")


@dataclass(frozen=True)
class Cooperative:
    """The parts of the true affinity between members (rows) and items (columns)."""

    taste: np.ndarray
    later_taste: np.ndarray
    change: np.ndarray
    """The month in which the later taste of each member begins."""
    fashion: np.ndarray
    """A row per month: what everybody likes at the time, the season included."""
    again: np.ndarray
    """A row per item: what an order so many months ago adds; the first column stands for never."""
    curiosity: float
    """Effect of having looked at an item last month without ordering it."""
    joined: np.ndarray
    listed: np.ndarray
    pace: np.ndarray
    """Number of items that each member orders in a month."""

    def affinity(self, month: int, gap: np.ndarray, curious: np.ndarray) -> np.ndarray:
        """The logits of ordering each item, given the months since the last order and what was looked at."""
        taste = np.where((month < self.change)[:, None], self.taste, self.later_taste)
        logit = taste + self.fashion[month] + self.again[np.arange(ITEMS), gap] + self.curiosity * curious
        logit[:, self.listed > month] = -np.inf
        return np.asarray(logit)


@dataclass(frozen=True)
class ActivityLog:
    """Activity log: the known months, then the month to predict."""

    log: pd.DataFrame
    """Numbers of member, item and day, and the kind of event."""
    affinity: np.ndarray
    ordered: np.ndarray


def draw_items(rng: np.random.Generator) -> pd.DataFrame:
    """The table of goods; some were listed in the course of the log."""
    listed = np.where(rng.random(ITEMS) < 0.15, rng.integers(6, MONTHS - 1, ITEMS), 0)
    return pd.DataFrame(
        {
            "item": [f"G{number}" for number in rng.permutation(9000)[:ITEMS] + 1000],
            "shelf": rng.choice(SHELVES, ITEMS),
            "grower": rng.choice(GROWERS, ITEMS),
            "price": rng.lognormal(2.2, 0.7, ITEMS).round(2),
            "listed": (FIRST_DAY + pd.to_timedelta(listed * DAYS, unit="D")).strftime("%Y-%m-%d"),
        }
    )


def draw_members(rng: np.random.Generator, count: int) -> pd.DataFrame:
    """The table of members; some joined in the course of the log."""
    joined = np.where(rng.random(count) < 0.35, rng.integers(1, MONTHS - 1, count), 0)
    return pd.DataFrame(
        {
            "member": [f"M{number}" for number in rng.permutation(90_000)[:count] + 10_000],
            "plot": rng.choice(PLOTS, count),
            "district": rng.choice(QUARTERS, count),
            "household": rng.integers(1, 7, count),
            "joined": (FIRST_DAY + pd.to_timedelta(joined * DAYS, unit="D")).strftime("%Y-%m-%d"),
        }
    )


def months_of(dates: pd.Series) -> np.ndarray:
    """The number of the month each date lies in."""
    return ((pd.to_datetime(dates) - FIRST_DAY).dt.days // DAYS).to_numpy()


def draw_cooperative(rng: np.random.Generator, items: pd.DataFrame, members: pd.DataFrame) -> Cooperative:
    """Draw the parameters that distinguish one cooperative from another."""
    shelf, grower = (pd.Categorical(items[name]).codes for name in ("shelf", "grower"))
    shelf_taste, later_taste, rest = _tastes(rng, pd.Categorical(members["plot"]).codes, np.log(items["price"]), grower)
    phase, height = rng.uniform(0, YEAR, ITEMS), rng.uniform(0.2, 1.6, len(SHELVES))[shelf]
    season = height * np.cos(2 * np.pi * (np.arange(MONTHS + 1)[:, None] - phase) / YEAR)
    drift = rng.normal(0, 0.12, (MONTHS + 1, ITEMS)).cumsum(axis=0)
    return Cooperative(
        taste=_settle(shelf_taste[:, shelf] + rest),
        later_taste=_settle(later_taste[:, shelf] + rest),
        change=np.where(rng.random(len(members)) < 0.3, rng.integers(5, MONTHS - 2, len(members)), MONTHS + 1),
        fashion=_settle(rng.normal(0, 0.7, ITEMS) + drift + season),
        again=_settle(_again(rng)[shelf]),
        curiosity=round(rng.uniform(1.6, 2.2), 4),
        joined=months_of(members["joined"]),
        listed=months_of(items["listed"]),
        pace=rng.gamma(3.0, 1.0, len(members)),
    )


def _settle(table: np.ndarray) -> np.ndarray:
    """Rounded, so that the last bits of a machine's arithmetic cannot change who orders what."""
    return table.round(4).astype(np.float32)


def _tastes(
    rng: np.random.Generator, plot: np.ndarray, price: pd.Series, grower: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Members by shelves, the same after a change of mind, and members by items for all that never changes."""
    people = len(plot)
    common = rng.normal(0, 1.0, (len(PLOTS), len(SHELVES)))[plot]
    before, after = (common + rng.normal(0, 0.5, (people, len(SHELVES))) for _ in range(2))
    growers = rng.normal(0, 0.6, (len(PLOTS), len(GROWERS)))[plot] + rng.normal(0, 0.25, (people, len(GROWERS)))
    purse = rng.normal(price.mean(), 0.5, len(PLOTS))[plot] + rng.normal(0, 0.2, people)
    unsaid = rng.normal(0, 0.15, (people, 2)) @ rng.normal(size=(2, ITEMS))
    return before, after, growers[:, grower] + unsaid - 0.8 * (price.to_numpy() - purse[:, None]) ** 2


def _again(rng: np.random.Generator) -> np.ndarray:
    """A row per shelf: five are bought again after some months, three last for years."""
    gap = np.arange(MONTHS + 1)
    cycle, strength = rng.integers(1, 5, (len(SHELVES), 1)), rng.uniform(2.0, 3.0, (len(SHELVES), 1))
    table = strength * np.exp(-(((gap - cycle) / 0.8) ** 2)) - 0.3
    table[rng.permutation(len(SHELVES))[:3]] = -3.0
    table[:, 0] = 0
    return table


def simulate_months(rng: np.random.Generator, coop: Cooperative, for_others: float) -> ActivityLog:
    """Lets the members look and order, month after month."""
    shape = coop.taste.shape
    gap, curious = np.zeros(shape, dtype=np.int8), np.zeros(shape, dtype=np.float32)
    parts = []
    for month in range(MONTHS):
        logit = coop.affinity(month, gap, curious)
        pace = np.where(coop.joined <= month, coop.pace, 0)
        ordered = _choose(rng, logit, rng.poisson(pace), for_others)
        looked = _choose(rng, logit / 1.5, rng.poisson(pace), for_others)
        curious = (looked & ~ordered).astype(np.float32)
        looked |= ordered & (rng.random(shape, dtype=np.float32) < 0.6)
        gap = np.where(ordered, 1, gap + (gap > 0)).astype(np.int8)
        for kind, chosen in (("looked", looked), ("ordered", ordered)):
            member, item = np.nonzero(chosen)
            day = month * DAYS + rng.integers(0, DAYS, len(member))
            parts.append(pd.DataFrame({"member": member, "item": item, "day": day, "kind": kind}))
    affinity = coop.affinity(MONTHS, gap, curious)
    log = pd.concat(parts).sort_values("day", kind="stable", ignore_index=True)
    return ActivityLog(log, affinity, _choose(rng, affinity, rng.poisson(coop.pace), for_others))


def _choose(rng: np.random.Generator, logit: np.ndarray, counts: np.ndarray, for_others: float) -> np.ndarray:
    """Which items each member takes: as many as told, likelier ones sooner, a share of them anybody's."""
    keys = logit - np.log(rng.standard_exponential(logit.shape))
    most = int(counts.max())
    best = np.argpartition(-keys, most, axis=1)[:, :most]
    best = np.take_along_axis(best, np.argsort(-np.take_along_axis(keys, best, axis=1), axis=1), axis=1)
    member, place = np.nonzero(np.arange(most) < counts[:, None])
    item = best[member, place]
    strange = rng.random(len(item)) < for_others
    item[strange] = rng.choice(np.flatnonzero(np.isfinite(logit[0])), int(strange.sum()))
    chosen = np.zeros(logit.shape, dtype=bool)
    chosen[member, item] = True
    return chosen
