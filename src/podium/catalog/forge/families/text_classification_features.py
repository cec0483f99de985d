"""The notes as matrices of words and their pieces, and what a close reading finds in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from podium.catalog.forge.family import PublicData

TextMatrices = tuple[Any, np.ndarray, Any]
"""Train rows, their desks, and test rows."""
Marks = list[tuple[str, float]]
TextReader = Callable[[str, str], Marks]
"""Function from a text and the day it was received to its marks."""


def split(data: PublicData, rows: Any) -> TextMatrices:
    return rows[: len(data.train)], data.train["desk"].to_numpy(), rows[len(data.train) :]


def vectors(data: PublicData, kind: str, edit: Callable[[str], str] = str, **settings: Any) -> TextMatrices:
    """Counts or TF-IDF weights of the words of the edited texts."""
    from sklearn.feature_extraction import text

    vectorizer = {"counts": text.CountVectorizer, "tfidf": text.TfidfVectorizer}[kind](**settings)
    train = vectorizer.fit_transform(data.train["text"].map(edit))
    return train, data.train["desk"].to_numpy(), vectorizer.transform(data.test["text"].map(edit))


def without_quotes(text: str) -> str:
    return re.sub("(?m)^>.*$", "", text)


def joined(text: str) -> str:
    """Without quotes, negations joined to the word they turn round, adverbs to the one they grade."""
    text = re.sub(r"\b(?:not|no longer|far from) (\w)", r"not_\1", without_quotes(text).lower())
    return re.sub(r"\b(slightly|badly) (\w)", r"\1_\2", text)


def pieces(data: PublicData, longest: int) -> TextMatrices:
    """Words and pieces of words, each kind scaled by itself.

    Pieces are counted once per different word and summed over a note's words: `char_wb`, but much faster.
    """
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

    vectorizer = CountVectorizer()
    words = vectorizer.fit_transform(pd.concat([data.train["text"], data.test["text"]]).map(joined))
    letters = CountVectorizer(analyzer="char_wb", ngram_range=(2, longest), min_df=5)
    inside = words @ letters.fit_transform(vectorizer.get_feature_names_out())
    scaled = [TfidfTransformer(sublinear_tf=True).fit_transform(counts) for counts in (words, inside)]
    return split(data, hstack(scaled).tocsr())


def who_and_when(text: str, received: str) -> Marks:
    """The way the note came and the keeper, from its first sentence, and the season."""
    first = re.split("[.:]", text, maxsplit=1)[0].split()
    keeper = next(word.strip(",") for word in first[1:] if word[0].isupper())
    angle = 2 * np.pi * pd.Timestamp(received).dayofyear / 365.25
    return [(first[0].strip(","), 1.0), (keeper, 1.0), ("winter", np.cos(angle)), ("spring", np.sin(angle))]


OBSERVATION = r"(\w+) (?:is|looks|was|seems) (?:(not|no longer|far from|slightly|badly) )?(\w+)\."


def conditions(text: str, received: str) -> Marks:
    """Each condition, turned round by a negation and graded by an adverb."""
    grades = {"": 1.0, "slightly": 0.4, "badly": 1.6}
    return [(state, grades.get(grade, -1.0)) for _, grade, state in re.findall(OBSERVATION, text)]


def name_parts(text: str, received: str) -> Marks:
    names = [name for name, _, _ in re.findall(OBSERVATION, text)]
    return [(part, 1.0) for name in names for part in (name[:3], name[:2], "-" + name[-3:], "-" + name[-2:])]


def places(text: str, received: str) -> Marks:
    return [(place, 1.0) for place in re.findall(r" the (\w+)\.", text)]


def orders(text: str, received: str) -> Marks:
    """Each pair of events, positive when the one that comes first in the alphabet came first."""
    found = re.findall(r"(\w+) (before|then|after|followed) (\w+)\.", text)
    pairs = [(one, other) if word in ("before", "then") else (other, one) for one, word, other in found]
    return [(" ".join(sorted(pair)), 1.0 if pair[0] < pair[1] else -1.0) for pair in pairs]


def levels(text: str, received: str) -> Marks:
    """Return the position of a level between knots, so that a linear model can bend."""
    values = [float(level) / 0.6 for level in re.findall(r"\d\.\d\d", text)]
    return [(f"level {knot}", max(0.0, 1 - abs(value - knot))) for value in values for knot in range(11)]


READERS: tuple[TextReader, ...] = (who_and_when, conditions, name_parts, places, orders, levels)


def found_marks(data: PublicData, readers: Sequence[TextReader]) -> list[dict[str, float]]:
    """The marks that some ways of reading find in each note."""
    rows: list[dict[str, float]] = []
    for text, received in pd.concat([data.train, data.test])[["text", "received"]].itertuples(index=False):
        row: dict[str, float] = {}
        said = without_quotes(text)
        for mark, value in (found for read in readers for found in read(said, received)):
            row[mark] = row.get(mark, 0) + value
        rows.append(row)
    return rows


def marked(data: PublicData, readers: Sequence[TextReader]) -> TextMatrices:
    """A sparse matrix of these marks."""
    from sklearn.feature_extraction import DictVectorizer

    return split(data, DictVectorizer().fit_transform(found_marks(data, readers)))


def repaired(data: PublicData) -> PublicData:
    """Every word spelt in the most frequent of the ways that have its first, last and inner letters."""
    counts = Counter(re.findall("[A-Za-z]+", " ".join([*data.train["text"], *data.test["text"]])))
    keys = {word: word[0] + "".join(sorted(word[1:-1])) + word[-1] for word in counts}
    usual = {keys[word]: word for word, _ in reversed(counts.most_common())}
    train, test = (
        frame.assign(text=[re.sub("[A-Za-z]+", lambda word: usual[keys[word[0]]], text) for text in frame["text"]])
        for frame in (data.train, data.test)
    )
    return PublicData(train, test)
