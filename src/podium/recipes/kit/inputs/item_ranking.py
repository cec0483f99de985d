"""Lists of items for users, learnt from a log of events between users and items.

Time is cut into windows as long as the one to predict. What was known before a window gives the features of pairs of a
user and an item; the model separates the pairs that occurred in the window from the others.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse.linalg import svds

from podium.tables.dates import parse_dates
from podium.tables.script_settings import DATA, SEED, time_used
from podium.tables.table_io import read_table

MAX_DENSE_ITEMS = 400
USERS_AT_FIRST = 1000
USERS_AT_ONCE = 20_000
PairScore = Callable[[pd.DataFrame], np.ndarray]
LARGE_LOG = 200_000_000


class Log(NamedTuple):
    """Events, the oldest first."""

    user: np.ndarray
    item: np.ndarray
    day: np.ndarray
    is_target: np.ndarray
    """True for events of the kind to predict."""
    users: pd.Index
    items: pd.Index


class Traits(NamedTuple):
    """Attributes of users or items: numbers, and groups as codes from 0."""

    numbers: pd.DataFrame
    groups: pd.DataFrame


def read_log(file: str, user: str, item: str, time: str, kind: str | None, goal: str, more: pd.Series) -> Log:
    """The log in a table; of a very large one, its end.

    Args:
        goal: what is to be predicted, in words that name some values of the column `kind`, if there is one.
        more: users who may not be in the log.
    """
    names = dict.fromkeys([user, item, time, *([kind] if kind else [])])
    path = DATA / file
    if path.suffix == ".csv" and path.stat().st_size > LARGE_LOG:
        header = pd.read_csv(path, nrows=0).columns
        with path.open("rb") as opened:
            opened.seek(path.stat().st_size - LARGE_LOG)
            opened.readline()
            options: dict[str, Any] = {"dtype": {user: str, item: str}, "float_precision": "round_trip"}
            table = pd.read_csv(opened, names=list(header), usecols=list(names), **options)
    else:
        table = read_table(file, usecols=list(names), dtype={user: str, item: str})
    table[time] = parse_dates(table[time])
    table = table.dropna(subset=[user, item, time]).sort_values(time, kind="stable")
    users = pd.Index(pd.concat([more.astype(str), table[user]]).unique())
    items = pd.Index(table[item].unique())
    days = (table[time] - table[time].min().normalize()).dt.days.to_numpy()
    is_target = np.ones(len(table), dtype=bool)
    if kind:
        kinds = target_event_kinds(table[kind], goal)
        is_target = table[kind].astype(str).isin(kinds).to_numpy()
        print("events to predict:", kinds)
    return Log(
        users.get_indexer(pd.Index(table[user])),
        items.get_indexer(pd.Index(table[item])),
        days,
        is_target,
        users,
        items,
    )


def read_traits(file: str | None, key: str, names: pd.Index) -> Traits:
    """The columns of a table about users or items, in the order of their names."""
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
            codes = pd.Series(pd.factorize(values, use_na_sentinel=False)[0])
            if 1 < codes.nunique() <= max(50, len(names) // 20):
                groups[name] = codes
    return Traits(pd.DataFrame(numbers), pd.DataFrame(groups))


def count_matrix(log: Log, use: np.ndarray, weights: np.ndarray | None = None) -> sparse.csr_matrix:
    """Count the events of each user (row) with each item (column)."""
    values = np.ones(use.sum()) if weights is None else weights[use]
    shape = (len(log.users), len(log.items))
    return sparse.csr_matrix((values, (log.user[use], log.item[use])), shape=shape)


def candidates(log: Log, users: np.ndarray, start: int, window: int, most: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of users and items to score: all, or the items a user knew and those popular recently."""
    if len(log.items) <= MAX_DENSE_ITEMS:
        return np.repeat(users, len(log.items)), np.tile(np.arange(len(log.items)), len(users))
    recent = (log.day < start) & (log.day >= start - 2 * window)
    popular = np.argsort(-np.bincount(log.item[recent], minlength=len(log.items)), kind="stable")[:most]
    own = count_matrix(log, (log.day < start) & (log.day >= start - 26 * window))[users].tocoo()
    user = np.r_[users[own.row], np.repeat(users, len(popular))]
    pairs = np.unique(user.astype(np.int64) * len(log.items) + np.r_[own.col, np.tile(popular, len(users))])
    return pairs // len(log.items), pairs % len(log.items)


def matrix_cells(table: sparse.csr_matrix, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Single cells of a matrix."""
    return np.asarray(table[rows, columns], dtype=np.float32).ravel()


def pair_features(
    log: Log, start: int, window: int, users: np.ndarray, items: np.ndarray, of_users: Traits, of_items: Traits
) -> pd.DataFrame:
    """Return features of pairs of a user and an item that were known before a day."""
    parts = [
        pair_history(log, start, window, users, items),
        item_history(log, start, window, users, items),
        similarity_features(log, start, window, users, items),
        group_history(log, start, window, users, items, of_users, of_items),
    ]
    return pd.concat(parts, axis=1).astype(np.float32)


def pair_history(log: Log, start: int, window: int, users: np.ndarray, items: np.ndarray) -> pd.DataFrame:
    """Return frequency, recency and regularity of the user's events with the item."""
    before = log.day < start
    found: dict[str, np.ndarray] = {}
    for name, kind in {"wanted": log.is_target, "other": ~log.is_target}.items():
        if not kind.any():
            continue
        for spans in (1, 3, 100):
            use = before & kind & (log.day >= start - spans * window)
            found[f"{name} in {spans} windows"] = matrix_cells(count_matrix(log, use), users, items)
            found[f"{name} by the user in {spans} windows"] = np.bincount(
                log.user[use], minlength=len(log.users)
            ).astype(np.float32)[users]
        last, first = event_days(log, before & kind)
        found[f"days since {name}"] = start - matrix_cells(last, users, items)
        count = found[f"{name} in 100 windows"]
        days = matrix_cells(last, users, items) - matrix_cells(first, users, items)
        gap = np.where(count > 1, days / np.maximum(count - 1, 1), -1)
        found[f"days between {name}"] = gap
        found[f"{name} is due"] = np.where(gap > 0, found[f"days since {name}"] / np.maximum(gap, 1), -1)
    return pd.DataFrame(found)


def event_days(log: Log, use: np.ndarray) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """The last and the first day of an event of each pair; 0 where there was none."""
    pair = log.user[use].astype(np.int64) * len(log.items) + log.item[use]
    days = log.day[use] + 1
    shape = (len(log.users), len(log.items))
    tables = []
    for order in (slice(None, None, -1), slice(None)):
        pairs, position = np.unique(pair[order], return_index=True)
        rows, columns = pairs // len(log.items), pairs % len(log.items)
        tables.append(sparse.csr_matrix((days[order][position].astype(np.float32), (rows, columns)), shape=shape))
    return tables[0], tables[1]


def item_history(log: Log, start: int, window: int, users: np.ndarray, items: np.ndarray) -> pd.DataFrame:
    """Return the item's recent popularity, its change, and the popularity a year before."""
    found: dict[str, np.ndarray] = {}

    def share(first: int, last: int, kind: np.ndarray) -> np.ndarray:
        use = (log.day >= first) & (log.day < min(last, start)) & kind
        return np.asarray(np.bincount(log.item[use], minlength=len(log.items)) / max(1, use.sum()))

    for spans in (1, 3, 100):
        found[f"share of {spans} windows"] = share(start - spans * window, start, log.is_target)[items]
    found["rise"] = np.log((found["share of 1 windows"] + 1e-5) / (found["share of 3 windows"] + 1e-5))
    if (~log.is_target).any():
        found["other share of 1 windows"] = share(start - window, start, ~log.is_target)[items]
    if start > 364:
        found["share a year before"] = share(start - 364, start - 364 + window, log.is_target)[items]
        found["share before that"] = share(start - 364 - window, start - 364, log.is_target)[items]
    first = np.full(len(log.items), np.inf)
    np.minimum.at(first, log.item, log.day)
    found["days on offer"] = (start - first)[items]
    return pd.DataFrame(found)


def similarity_features(log: Log, start: int, window: int, users: np.ndarray, items: np.ndarray) -> pd.DataFrame:
    """Return the similarity of the item to the user's items: by item similarity and by matrix factorisation."""
    before = (log.day < start) & log.is_target
    weights = np.exp(-(start - log.day) / (6 * window))
    found: dict[str, np.ndarray] = {}
    counts = {
        "orders": count_matrix(log, before, weights),
        "events": count_matrix(log, log.day < start, np.where(log.is_target, 1.0, 0.5) * weights),
    }
    for name, count in counts.items():
        table: Any = count.sqrt()
        if len(log.items) <= 3000:
            size = np.sqrt(np.asarray(table.multiply(table).sum(axis=0)).ravel()) + 1
            similarity = (sparse.diags(1 / size) @ (table.T @ table) @ sparse.diags(1 / size)).toarray()
            np.fill_diagonal(similarity, 0)
            found[f"goes with {name}"] = (table @ similarity)[users, items]
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
    """The user's share of similar items, and the item's share among similar users."""
    before = log.day < start
    found = {name: of_items.numbers[name].to_numpy()[items] for name in of_items.numbers}
    found |= {f"user's {name}": of_users.numbers[name].to_numpy()[users] for name in of_users.numbers}
    for name in of_items.numbers:
        use = before & log.is_target & of_items.numbers[name].notna().to_numpy()[log.item]
        total = np.bincount(log.user[use], of_items.numbers[name].to_numpy()[log.item[use]], minlength=len(log.users))
        mean = total / np.maximum(np.bincount(log.user[use], minlength=len(log.users)), 1)
        found[f"{name} beside the usual"] = found[name] - mean[users]
    for name in of_items.groups:
        codes = of_items.groups[name].to_numpy()
        found[f"{name} of item"] = codes[items]
        for spans, kinds in ((100, log.is_target), (2, np.ones(len(log.day), dtype=bool))):
            use = before & kinds & (log.day >= start - spans * window)
            table = np.zeros((len(log.users), codes.max() + 1), np.float32)
            np.add.at(table, (log.user[use], codes[log.item[use]]), 1)
            table = (table + 3 * table.mean(axis=0) / table.mean(axis=0).sum()) / (table.sum(axis=1, keepdims=True) + 3)
            found[f"share of {name} in {spans} windows"] = table[users, codes[items]]
    for name in of_users.groups:
        codes = of_users.groups[name].to_numpy()
        found[f"{name} of user"] = codes[users]
        use = before & log.is_target & (log.day >= start - 6 * window)
        table = np.zeros((codes.max() + 1, len(log.items)), np.float32)
        np.add.at(table, (codes[log.user[use]], log.item[use]), 1)
        usual = (table.sum(axis=0) + 1) / (table.sum() + 1)
        found[f"share among {name}"] = ((table + 20 * usual) / (table.sum(axis=1, keepdims=True) + 20))[
            codes[users], items
        ]
    return pd.DataFrame(found)


def events_in_window(log: Log, start: int, window: int) -> sparse.csr_matrix:
    """Which users had target events with which items in a window."""
    use = (log.day >= start) & (log.day < start + window) & log.is_target
    return count_matrix(log, use).minimum(1).tocsr()


def training_pairs(
    log: Log, starts: list[int], window: int, of_users: Traits, of_items: Traits, others: int, most: int
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return features of pairs before some windows, and whether they occurred; pairs that did not are sampled.

    Args:
        others: how many pairs that did not occur are sampled per user.
        most: how many users are taken per window.
    """
    rng = np.random.default_rng(SEED)
    tables, truths = [], []
    for start in starts:
        true = events_in_window(log, start, window)
        active = np.flatnonzero(true.getnnz(axis=1))
        active = rng.permutation(active)[:most]
        users, items = candidates(log, active, start, window)
        hit = matrix_cells(true, users, items) > 0
        chosen = hit | (rng.random(len(hit)) < others * len(active) / len(hit))
        users, items = users[chosen], items[chosen]
        tables.append(pair_features(log, start, window, users, items, of_users, of_items))
        truths.append(hit[chosen].astype(int))
    return pd.concat(tables, ignore_index=True), np.concatenate(truths)


def best_items_by_score(
    log: Log,
    users: np.ndarray,
    start: int,
    window: int,
    of_users: Traits,
    of_items: Traits,
    score: PairScore,
    count: int,
) -> dict[int, np.ndarray]:
    """The best items for a window, of as many users as there is time for."""
    lists: dict[int, np.ndarray] = {}
    portion, time_each = USERS_AT_FIRST, 0.0
    while len(users) and time_used() + time_each * len(users[:portion]) < 0.8:
        started = time_used()
        some_users, users = np.split(users, [portion])
        pairs = candidates(log, some_users, start, window)
        lists |= best_items(*pairs, score(pair_features(log, start, window, *pairs, of_users, of_items)), count)
        time_each = (time_used() - started) / len(some_users)
        portion = min(2 * portion, USERS_AT_ONCE)  # few: each goes through the whole log again
    return lists


def best_items(users: np.ndarray, items: np.ndarray, score: np.ndarray, count: int) -> dict[int, np.ndarray]:
    """The items with the highest score of every user, best first."""
    order = np.lexsort((-score, users))
    users, items = users[order], items[order]
    starts = np.flatnonzero(np.r_[True, users[1:] != users[:-1]])
    ends = np.r_[starts[1:], len(users)]
    return {int(users[first]): items[first : min(first + count, end)] for first, end in zip(starts, ends, strict=True)}


def recent_and_popular_items(log: Log, users: np.ndarray, start: int, window: int, count: int) -> dict[int, np.ndarray]:
    """The items each user had most recently, followed by the most popular ones."""
    before = log.day < start
    popular = np.bincount(log.item[before & log.is_target & (log.day >= start - window)], minlength=len(log.items))
    common = np.argsort(-popular, kind="stable")[:count]
    weights = np.where(log.is_target, 1.0, 0.3) * np.exp(-(start - log.day) / (3 * window))
    own = count_matrix(log, before, weights)[users].tocoo()
    score = own.data + 1e-3 * popular[own.col] / max(1, popular.max())
    listed = best_items(users[own.row], own.col, score, count)
    lists = (np.r_[listed.get(int(user), common[:0]), common] for user in users)
    return {int(user): pd.unique(found.astype(int))[:count] for user, found in zip(users, lists, strict=True)}


def target_event_kinds(kinds: pd.Series, goal: str) -> list[str]:
    """The kinds of events that a goal names, by the first letters of their names; the rarest if it names none."""
    names = kinds.astype(str).value_counts()
    named = [name for name in names.index if re.search(rf"\b{re.escape(name.lower()[:4])}", goal.lower())]
    return named if 0 < len(named) < len(names) else [names.index[-1]]
