"""Further tables: what they say of a row, joined to it, or summed up where they have several rows for it."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from podium.tables.table_io import ids_as_text, read_table

MAX_RECORD_KINDS = 30
"""Largest number of kinds of records that are counted by kind."""
MAX_SUCCESSIONS = 60
MAX_COLUMN_PAIRS = 60
"""Largest number of column pairs compared between two entities of a row."""
MIN_CORRELATION = 0.1
MIN_LIKENESS = 1.2
"""Smallest ratio of a similarity to that of random pairs for columns that belong together."""
MAX_LINKS = 2_000_000
"""Largest number of links in a network whose paths are counted."""


def join_further(
    both: pd.DataFrame, parents: list[tuple[str, str, str]], records: list[tuple[str, str, str]], left_out: list[str]
) -> tuple[pd.DataFrame, list[str], list[str]]:
    """Rows with columns of further tables, and which of these are numbers and which are groups.

    Args:
        parents: tables with one row for each value of their key, each as its file, a column of the rows and the key.
        records: the same of tables with several rows for each.
        left_out: columns that must not be used.
    """
    facts = []
    for file, column, key in parents:
        table = read_table(file).drop(columns=left_out, errors="ignore")
        known = table.set_index(ids_as_text(table[key])).drop(columns=key)
        facts.append(facts_of_rows(both[column], known[~known.index.duplicated()]))
    parts = [both, *(one.add_suffix(f" of {column}") for one, (_, column, _) in zip(facts, parents, strict=True))]
    if len(facts) == 2:
        parts.append(compared(*facts))
    for file, column, key in records:
        table = read_table(file).drop(columns=left_out, errors="ignore")
        parts.append(facts_of_rows(both[column], summed_up(table, key)).add_suffix(f" of {column} in {file}"))
    for (file, column, key), (other_file, other, other_key) in combinations(records, 2):
        if file == other_file and column != other and key != other_key and len(table := read_table(file)) < MAX_LINKS:
            network = common_neighbours(both[column], both[other], table[key], table[other_key])
            parts.append(network.add_suffix(f" of {column} and {other}"))
    joined = pd.concat(parts, axis=1)
    joined = joined.loc[:, ~joined.columns.duplicated()]
    more = [str(name) for name in joined if name not in both]
    numbers = [name for name in more if pd.api.types.is_numeric_dtype(joined[name])]
    return joined, numbers, [name for name in more if name not in numbers]


def facts_of_rows(ids: pd.Series, facts: pd.DataFrame) -> pd.DataFrame:
    """Return the facts of each row by its id."""
    return facts.reindex(ids_as_text(ids)).set_index(ids.index)


def compared(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Return the similarity of two entities of a row, in columns of the same name or columns that belong together."""
    shared = set(one) & set(other)
    pairs = [(left, right) for left in one for right in other if left == right or not shared][:MAX_COLUMN_PAIRS]
    found: dict[str, np.ndarray] = {}
    for left, right in pairs:
        first, second = one[left], other[right]
        are_numbers = [pd.api.types.is_numeric_dtype(column) for column in (first, second)]
        if all(are_numbers) and (shared or first.corr(second, method="spearman") > MIN_CORRELATION):
            size = (first.abs() + second.abs()).where(lambda size: size > 0, 1.0)
            found[f"{left} beside {right}"] = ((first - second).abs() / size).to_numpy()
        elif not any(are_numbers):
            likeness = text_likeness(first, second)
            by_chance = text_likeness(first, second.shift(fill_value="")).mean()
            if shared or likeness.mean() > MIN_LIKENESS * by_chance:
                found[f"{left} beside {right}"] = likeness
    return pd.DataFrame(found, index=one.index)


def text_likeness(one: pd.Series, other: pd.Series) -> np.ndarray:
    """The share of pieces of words that two texts have in common, rare ones counting more."""
    texts = pd.concat([one, other]).fillna("").astype(str)
    if not texts.str.contains(r"\w").any():
        return np.zeros(len(one))
    pieces = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3)).fit_transform(texts)
    return np.asarray(pieces[: len(one)].multiply(pieces[len(one) :]).sum(axis=1)).ravel()


def common_neighbours(one: pd.Series, other: pd.Series, starts: pd.Series, ends: pd.Series) -> pd.DataFrame:
    """Return link features of the two ends of a row: common neighbours, rare common neighbours, and paths between."""
    columns = [ids_as_text(column) for column in (one, other, starts, ends)]
    codes, names = pd.factorize(pd.concat(columns))
    left, right, first, last = np.split(codes, np.cumsum([len(column) for column in columns])[:-1])
    drawn = sparse.coo_matrix((np.ones(len(first)), (first, last)), shape=(len(names), len(names)))
    links: Any = (drawn + drawn.T).tocsr().sign()
    degree = np.asarray(links.sum(axis=1)).ravel()
    shared = links[left].multiply(links[right]).tocsr()
    count = np.asarray(shared.sum(axis=1)).ravel()
    found = {
        "common neighbours": count,
        "rare common neighbours": shared @ (1 / np.log(2 + degree)),
        "share of common neighbours": count / np.maximum(1, degree[left] + degree[right] - count),
        "ways by two others": np.asarray((links[left] @ links).multiply(links[right]).sum(axis=1)).ravel(),
        "product of degrees": degree[left] * degree[right],
    }
    return pd.DataFrame(found, index=one.index)


def summed_up(table: pd.DataFrame, key: str) -> pd.DataFrame:
    """For each value of a key the records that a table has of it, as numbers."""
    ids = ids_as_text(table[key])
    parts = [ids.groupby(ids, sort=False).size().rename("records").to_frame()]
    for name in table.columns.drop(key):
        values = table[name]
        if pd.api.types.is_bool_dtype(values) or pd.api.types.is_numeric_dtype(values):
            parts += number_summaries(values.astype(float), ids, name)
        else:
            parts += kind_summaries(values.fillna("").astype(str), ids, name)
    return pd.concat(parts, axis=1)


def number_summaries(values: pd.Series, ids: pd.Series, name: str) -> list[pd.DataFrame]:
    """Middle, extremes, spread, first and last of numbers; also of their steps, where they never fall, as times do."""
    steps = values.groupby(ids, sort=False).diff()
    found = [values.groupby(ids, sort=False).agg(["mean", "min", "max", "std", "first", "last"]).add_suffix(f" {name}")]
    if not (steps < 0).any():
        gaps = steps.fillna(values).groupby(ids, sort=False).agg(["mean", "max", "std"])
        found.append(gaps.add_suffix(f" step of {name}"))
    return found


def kind_summaries(values: pd.Series, ids: pd.Series, name: str) -> list[pd.DataFrame]:
    """Return counts of kinds of records, of successions and of numbers in texts."""
    kinds = values.str.replace(r"\d+(?:\.\d+)?", "#", regex=True)
    if not 1 < kinds.nunique() <= MAX_RECORD_KINDS:
        return [values.groupby(ids, sort=False).nunique().rename(f"different {name}").to_frame()]
    found = [counts_by(ids, kinds, name)]
    inside = values.str.extract(r"(\d+(?:\.\d+)?)", expand=False).astype(float).map(np.log1p)
    if inside.notna().any():
        means = inside.groupby([ids, kinds], sort=False).mean().unstack()
        found.append(means.add_prefix(f"number in {name} "))
    follows = (kinds.shift() + " > " + kinds).where(ids == ids.shift())
    usual = follows.value_counts().index[:MAX_SUCCESSIONS]
    return [*found, counts_by(ids, follows.where(follows.isin(usual)), f"succession in {name}")]


def counts_by(ids: pd.Series, kinds: pd.Series, name: str) -> pd.DataFrame:
    """Count each kind for each id."""
    counts = ids.groupby([ids, kinds], sort=False).size().unstack(fill_value=0).astype(float)
    return counts.add_prefix(f"{name} ")
