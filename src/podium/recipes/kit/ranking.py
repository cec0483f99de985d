"""Lists of items for users, learnt from a log of what users did with items.

Time is cut into windows as long as the one that is asked for. What was known before a window is turned into features of
pairs of a user and an item; the pairs that came true in the window are told from those that did not.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse.linalg import svds

from podium.recipes.kit.environment import DATA, SEED, time_used
from podium.recipes.kit.submission import read_table

FEW_ITEMS = 400
PORTION = 20_000
PairScore = Callable[[pd.DataFrame], np.ndarray]
LARGE_LOG = 200_000_000


class Log(NamedTuple):
    """Events, the oldest first."""

    user: np.ndarray
    item: np.ndarray
    day: np.ndarray
    wanted: np.ndarray
    """Whether it is an event of the kind to be foretold."""
    users: pd.Index
    items: pd.Index


class Traits(NamedTuple):
    """What is known about users or items: numbers, and groups as codes from 0."""

    numbers: pd.DataFrame
    groups: pd.DataFrame


def read_log(file: str, user: str, item: str, time: str, kind: str | None, goal: str, more: pd.Series) -> Log:
    """The log in a table; of a very large one, its end.

    Args:
        goal: what is to be foretold, in words that name some values of the column `kind`, if there is one.
        more: users who may not be in the log.
    """
    names = dict.fromkeys([user, item, time, *([kind] if kind else [])])
    path = DATA / file
    if path.suffix == ".csv" and path.stat().st_size > LARGE_LOG:
        header = pd.read_csv(path, nrows=0).columns
        with path.open("rb") as opened:
            opened.seek(path.stat().st_size - LARGE_LOG)
            opened.readline()
            table = pd.read_csv(opened, names=header, usecols=list(names), dtype={user: str, item: str})
    else:
        table = read_table(file, usecols=list(names), dtype={user: str, item: str})
    table[time] = pd.to_datetime(table[time])
    table = table.dropna(subset=[user, item, time]).sort_values(time, kind="stable")
    everyone = pd.Index(pd.concat([more.astype(str), table[user]]).unique())
    items = pd.Index(table[item].unique())
    days = (table[time] - table[time].min().normalize()).dt.days.to_numpy()
    wanted = np.ones(len(table), dtype=bool)
    if kind:
        asked = kinds_asked_for(table[kind], goal)
        wanted = table[kind].astype(str).isin(asked).to_numpy()
        print("to be foretold:", asked)
    return Log(everyone.get_indexer(table[user]), items.get_indexer(table[item]), days, wanted, everyone, items)


def read_traits(file: str | None, key: str, names: pd.Index) -> Traits:
    """What a table says about users or items, in the order of their names."""
    if file is None:
        return Traits(pd.DataFrame(index=range(len(names))), pd.DataFrame(index=range(len(names))))
    table = read_table(file, dtype={key: str}).drop_duplicates(key).set_index(key).reindex(names).reset_index(drop=True)
    numbers, groups = {}, {}
    for name in table:
        values = table[name]
        is_number = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
        if is_number:
            numbers[name] = values.astype(float)
        if not is_number or values.nunique() <= 12:
            codes = pd.Series(pd.factorize(values.astype(str))[0])
            if 1 < codes.nunique() <= max(50, len(names) // 20):
                groups[name] = codes
    return Traits(pd.DataFrame(numbers), pd.DataFrame(groups))


def counted(log: Log, use: np.ndarray, weights: np.ndarray | None = None) -> sparse.csr_matrix:
    """How often each user (row) had an event with each item (column)."""
    values = np.ones(use.sum()) if weights is None else weights[use]
    shape = (len(log.users), len(log.items))
    return sparse.csr_matrix((values, (log.user[use], log.item[use])), shape=shape)


def candidates(log: Log, users: np.ndarray, start: int, window: int, most: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of users and items worth a closer look: all, or what users knew and what was popular of late."""
    if len(log.items) <= FEW_ITEMS:
        return np.repeat(users, len(log.items)), np.tile(np.arange(len(log.items)), len(users))
    recent = (log.day < start) & (log.day >= start - 2 * window)
    popular = np.argsort(-np.bincount(log.item[recent], minlength=len(log.items)), kind="stable")[:most]
    own = counted(log, (log.day < start) & (log.day >= start - 26 * window))[users].tocoo()
    user = np.r_[users[own.row], np.repeat(users, len(popular))]
    pairs = np.unique(user.astype(np.int64) * len(log.items) + np.r_[own.col, np.tile(popular, len(users))])
    return pairs // len(log.items), pairs % len(log.items)


def cells(table: sparse.csr_matrix, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Single cells of a table."""
    return np.asarray(table[rows, columns], dtype=np.float32).ravel()


def pair_features(
    log: Log, start: int, window: int, users: np.ndarray, items: np.ndarray, of_users: Traits, of_items: Traits
) -> pd.DataFrame:
    """What was known before a day about pairs of a user and an item."""
    parts = [
        own_history(log, start, window, users, items),
        item_history(log, start, window, users, items),
        taste(log, start, window, users, items),
        group_history(log, start, window, users, items, of_users, of_items),
    ]
    return pd.concat(parts, axis=1).astype(np.float32)


def own_history(log: Log, start: int, window: int, users: np.ndarray, items: np.ndarray) -> pd.DataFrame:
    """How often, how lately and how regularly the user had to do with the item."""
    before = log.day < start
    found: dict[str, np.ndarray] = {}
    for name, kind in {"wanted": log.wanted, "other": ~log.wanted}.items():
        if not kind.any():
            continue
        for spans in (1, 3, 100):
            use = before & kind & (log.day >= start - spans * window)
            found[f"{name} in {spans} windows"] = cells(counted(log, use), users, items)
            found[f"{name} by the user in {spans} windows"] = np.bincount(
                log.user[use], minlength=len(log.users)
            ).astype(np.float32)[users]
        last, first = event_days(log, before & kind)
        found[f"days since {name}"] = start - cells(last, users, items)
        count = found[f"{name} in 100 windows"]
        gap = np.where(
            count > 1, (cells(last, users, items) - cells(first, users, items)) / np.maximum(count - 1, 1), -1
        )
        found[f"days between {name}"] = gap
        found[f"{name} is due"] = np.where(gap > 0, found[f"days since {name}"] / np.maximum(gap, 1), -1)
    return pd.DataFrame(found)


def event_days(log: Log, use: np.ndarray) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """The last and the first day of an event of each pair; 0 where there was none."""
    place = log.user[use].astype(np.int64) * len(log.items) + log.item[use]
    days = log.day[use] + 1
    shape = (len(log.users), len(log.items))
    tables = []
    for order in (slice(None, None, -1), slice(None)):
        pairs, at = np.unique(place[order], return_index=True)
        rows, columns = pairs // len(log.items), pairs % len(log.items)
        tables.append(sparse.csr_matrix((days[order][at].astype(np.float32), (rows, columns)), shape=shape))
    return tables[0], tables[1]


def item_history(log: Log, start: int, window: int, users: np.ndarray, items: np.ndarray) -> pd.DataFrame:
    """How popular the item was of late, how that changed, and how popular it was a year before."""
    found: dict[str, np.ndarray] = {}

    def share(first: int, last: int, kind: np.ndarray) -> np.ndarray:
        use = (log.day >= first) & (log.day < min(last, start)) & kind
        return np.bincount(log.item[use], minlength=len(log.items)) / max(1, use.sum())

    for spans in (1, 3, 100):
        found[f"share of {spans} windows"] = share(start - spans * window, start, log.wanted)[items]
    found["rise"] = np.log((found["share of 1 windows"] + 1e-5) / (found["share of 3 windows"] + 1e-5))
    if (~log.wanted).any():
        found["other share of 1 windows"] = share(start - window, start, ~log.wanted)[items]
    if start > 364:
        found["share a year before"] = share(start - 364, start - 364 + window, log.wanted)[items]
        found["share before that"] = share(start - 364 - window, start - 364, log.wanted)[items]
    first = np.full(len(log.items), np.inf)
    np.minimum.at(first, log.item, log.day)
    found["days on offer"] = (start - first)[items]
    return pd.DataFrame(found)


def taste(log: Log, start: int, window: int, users: np.ndarray, items: np.ndarray) -> pd.DataFrame:
    """How well the item goes with what the user had: by users alike, and by items that went together."""
    before = (log.day < start) & log.wanted
    faded = np.exp(-(start - log.day) / (6 * window))
    found: dict[str, np.ndarray] = {}
    for name, table in {
        "orders": counted(log, before, faded),
        "events": counted(log, log.day < start, np.where(log.wanted, 1.0, 0.5) * faded),
    }.items():
        table = table.sqrt()
        if len(log.items) <= 3000:
            size = np.sqrt(np.asarray(table.multiply(table).sum(axis=0)).ravel()) + 1
            alike = (sparse.diags(1 / size) @ (table.T @ table) @ sparse.diags(1 / size)).toarray()
            np.fill_diagonal(alike, 0)
            found[f"goes with {name}"] = (table @ alike)[users, items]
        for parts in (8, 32):
            if min(table.shape) > 2 * parts:
                left, weight, right = svds(table, k=parts, random_state=SEED)
                found[f"taste in {parts} parts of {name}"] = np.einsum(
                    "ij,ij->i", (left * weight)[users], right.T[items]
                )
    return pd.DataFrame(found)


def group_history(
    log: Log, start: int, window: int, users: np.ndarray, items: np.ndarray, of_users: Traits, of_items: Traits
) -> pd.DataFrame:
    """How much the user had of items like this one, and users like this one of the item."""
    before = log.day < start
    found = {name: of_items.numbers[name].to_numpy()[items] for name in of_items.numbers}
    found |= {f"user's {name}": of_users.numbers[name].to_numpy()[users] for name in of_users.numbers}
    for name in of_items.numbers:
        use = before & log.wanted & of_items.numbers[name].notna().to_numpy()[log.item]
        total = np.bincount(log.user[use], of_items.numbers[name].to_numpy()[log.item[use]], minlength=len(log.users))
        mean = total / np.maximum(np.bincount(log.user[use], minlength=len(log.users)), 1)
        found[f"{name} beside the usual"] = found[name] - mean[users]
    for name in of_items.groups:
        codes = of_items.groups[name].to_numpy()
        found[f"{name} of item"] = codes[items]
        for spans, kinds in ((100, log.wanted), (2, np.ones(len(log.day), dtype=bool))):
            use = before & kinds & (log.day >= start - spans * window)
            table = np.zeros((len(log.users), codes.max() + 1), np.float32)
            np.add.at(table, (log.user[use], codes[log.item[use]]), 1)
            table = (table + 3 * table.mean(axis=0) / table.mean(axis=0).sum()) / (table.sum(axis=1, keepdims=True) + 3)
            found[f"share of {name} in {spans} windows"] = table[users, codes[items]]
    for name in of_users.groups:
        codes = of_users.groups[name].to_numpy()
        found[f"{name} of user"] = codes[users]
        use = before & log.wanted & (log.day >= start - 6 * window)
        table = np.zeros((codes.max() + 1, len(log.items)), np.float32)
        np.add.at(table, (codes[log.user[use]], log.item[use]), 1)
        usual = (table.sum(axis=0) + 1) / (table.sum() + 1)
        found[f"share among {name}"] = ((table + 20 * usual) / (table.sum(axis=1, keepdims=True) + 20))[
            codes[users], items
        ]
    return pd.DataFrame(found)


def came_true(log: Log, start: int, window: int) -> sparse.csr_matrix:
    """Which users had which items in a window."""
    use = (log.day >= start) & (log.day < start + window) & log.wanted
    return counted(log, use).minimum(1).tocsr()


def training_pairs(
    log: Log, starts: list[int], window: int, of_users: Traits, of_items: Traits, others: int, most: int
) -> tuple[pd.DataFrame, np.ndarray]:
    """Features of pairs before some windows, and whether they came true; of those that did not, a sample.

    Args:
        others: as many pairs that did not come true are taken of each user.
        most: users of each window.
    """
    rng = np.random.default_rng(SEED)
    tables, truths = [], []
    for start in starts:
        true = came_true(log, start, window)
        active = np.flatnonzero(true.getnnz(axis=1))
        active = rng.permutation(active)[:most]
        users, items = candidates(log, active, start, window)
        hit = cells(true, users, items) > 0
        chosen = hit | (rng.random(len(hit)) < others * len(active) / len(hit))
        users, items = users[chosen], items[chosen]
        tables.append(pair_features(log, start, window, users, items, of_users, of_items))
        truths.append(hit[chosen].astype(int))
    return pd.concat(tables, ignore_index=True), np.concatenate(truths)


def scored_pairs(
    log: Log,
    users: np.ndarray,
    start: int,
    window: int,
    of_users: Traits,
    of_items: Traits,
    score: PairScore,
    count: int,
) -> dict[int, np.ndarray]:
    """The best items of users for a window, as long as there is time; users are taken in portions."""
    found: dict[int, np.ndarray] = {}
    for portion in np.array_split(users, -(-len(users) // PORTION)):
        if found and time_used() > 0.8:
            break
        pairs = candidates(log, portion, start, window)
        found |= best_items(*pairs, score(pair_features(log, start, window, *pairs, of_users, of_items)), count)
    return found


def best_items(users: np.ndarray, items: np.ndarray, score: np.ndarray, count: int) -> dict[int, np.ndarray]:
    """The items of highest score of every user, the highest first."""
    order = np.lexsort((-score, users))
    users, items = users[order], items[order]
    starts = np.flatnonzero(np.r_[True, users[1:] != users[:-1]])
    ends = np.r_[starts[1:], len(users)]
    return {int(users[at]): items[at : min(at + count, end)] for at, end in zip(starts, ends, strict=True)}


def usual_items(log: Log, users: np.ndarray, start: int, window: int, count: int) -> dict[int, np.ndarray]:
    """What each user had most of late, and after that what was most popular."""
    before = log.day < start
    popular = np.bincount(log.item[before & log.wanted & (log.day >= start - window)], minlength=len(log.items))
    common = np.argsort(-popular, kind="stable")[:count]
    faded = np.where(log.wanted, 1.0, 0.3) * np.exp(-(start - log.day) / (3 * window))
    own = counted(log, before, faded)[users].tocoo()
    score = own.data + 1e-3 * popular[own.col] / max(1, popular.max())
    listed = best_items(users[own.row], own.col, score, count)
    lists = (np.r_[listed.get(int(user), common[:0]), common] for user in users)
    return {int(user): pd.unique(found.astype(int))[:count] for user, found in zip(users, lists, strict=True)}


def kinds_asked_for(kinds: pd.Series, goal: str) -> list[str]:
    """The kinds of events that a goal speaks of, by the beginnings of their names; the rarest if it names none."""
    names = kinds.astype(str).value_counts()
    named = [name for name in names.index if re.search(rf"\b{re.escape(name.lower()[:4])}", goal.lower())]
    return named if 0 < len(named) < len(names) else [names.index[-1]]
