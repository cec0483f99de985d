"""Text classification: which desk of a canal office has to act on a note? Terse notes in half-invented words.

What a note means lies where a bag of words sees poorly: in the beginnings and ends of invented names, most of
which occur once, in words that a negation turns round or an adverb grades, in the order of two events, in a
number, the keeper who writes and the season. Quoted earlier notes mean nothing. A share of the labels is drawn
by lot, so that the best fit has to reckon with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.closed_form import distinct_numbers, linear, read_once, smooth
from podium.catalog.forge.entrants.learners import subsample
from podium.catalog.forge.families.text_classification_data import (
    CONDITIONS,
    DESKS,
    EVENTS,
    PLACES,
    draw_canal,
    draw_waves,
    misspell,
    write_notes,
)
from podium.catalog.forge.families.text_classification_features import (
    READERS,
    TextMatrices,
    found_marks,
    joined,
    marked,
    pieces,
    repaired,
    split,
    vectors,
    who_and_when,
    without_quotes,
)
from podium.catalog.forge.family import Family, ForgedData, Pipeline, PublicData
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.retelling import FIVE_LABELS, OwnColumn, Retelling, told_as
from podium.metrics import log_loss
from podium.task import Columns, Number

TRAIN_ROWS = {"easy": 5600, "medium": 5000, "hard": 4400, "tiny": 140}
MISFILED = {"easy": 0.03, "medium": 0.06, "hard": 0.10, "tiny": 0.03}
MISSPELT = {"easy": 0.01, "medium": 0.03, "hard": 0.06, "tiny": 0.01}
STATES = """bent brittle broken bulging chipped clogged corroded dented dirty dull dry empty frayed grimy icy leaky
misty mouldy peeling rough scorched shaky sagging soaked sooty split stained sticky stiff stuck torn uneven wobbly"""
HAPPENINGS = """audit blackout carnival cold concert deliveries drizzle excursion gusts heatwave mist parade races
repairs sleet snow strike training visitors wind"""
CORNERS = """annex arcade archive attic balcony barn basement canteen cloakroom corridor courtyard depot fence foyer
gallery garage gatehouse kitchen landing larder laundry loft pantry passage pavilion porch roof shelter silo stairwell
storeroom terrace tower vault veranda washroom yard"""
QUOTING = {"easy": 0.3, "medium": 0.5, "hard": 0.7, "tiny": 0.3}
TEST_ROWS = {"easy": 3000, "medium": 3000, "hard": 3000, "tiny": 60}

SUBMISSION = Columns(id="note_id", target=DESKS, values=Number(0, 1), row_total=1)

READINGS = {"Gauge": "{gauge}", "Water": "{stuff}", "Level": "{mark}"}
INSIDE = {
    "lock": "{parent}",
    "keeper": "{writer}",
    **READINGS,
    **told_as("state", CONDITIONS.split()),
    **told_as("happening", EVENTS.split()),
    **told_as("corner", PLACES.split()),
}

RETELLING = Retelling(
    asked="how likely each desk is to be the one that has to act",
    rows="{notes}",
    opening=(
        ("{organisation} gets short {notes} from its {parents} and passes each on to one of five desks.",),
        ("For each of the {test:,} {notes} of {place} in `test.csv`, predict {asked}.",),
    ),
    nouns={
        "note": ("note|notes", "slip|slips", "message|messages", "report|reports", "telegram|telegrams"),
        "writer": ("clerk", "steward", "warden", "foreman", "porter", "caretaker", "supervisor"),
        "gauge": ("Meter", "Scale", "Pointer", "Needle", "Indicator"),
        "stuff": ("Fuel", "Oil", "Stock", "Grain", "Brine"),
        "mark": ("Reading", "Mark", "Height", "Depth", "Count"),
    },
    pools={"state": STATES.split(), "happening": HAPPENINGS.split(), "corner": CORNERS.split()},
    columns=(
        OwnColumn("note_id", "{place} {note}", "identifier", "key"),
        OwnColumn("received", "{place} {note} day/date/arrival", "the day it came in"),
        OwnColumn(
            "text", "{place} {note} text/words", "who writes from where, remarks, a closing phrase", inside=INSIDE
        ),
        OwnColumn(
            "desk", "{place} {note} desk/office", f"one of {FIVE_LABELS}", values=told_as("label", DESKS), file="train"
        ),
    ),
    notes=(
        "Every {parent} of {place} has its own names for the things around it, and nobody knows them all.",
        "Remarks in `{text}` stand in any order.",
        "Lines of `{text}` that begin with `>` quote an earlier {note} that has been dealt with.",
        "In `{text}`, typed in a hurry, about {misspelt:.0%} of the longer words have two letters swapped.",
        "About {misfiled:.0%} of the {notes} of {place}, in train and test alike, went to a desk drawn by lot.",
    ),
    metric="The multi-class logarithmic loss (log loss).\nLogarithms are natural.\nLower is better.",
    form=f"A CSV with the columns `{{id}}`, {FIVE_LABELS}.\nOne row per row of `test.csv`.\n"
    "A row's probabilities add up to 1.",
    facts=lambda difficulty: {"misspelt": MISSPELT[difficulty], "misfiled": MISFILED[difficulty]},
)


def draw(rng: np.random.Generator, difficulty: Difficulty) -> ForgedData:
    """Draws the words of a canal, then the notes with the chances of each desk, then the desks."""
    cut, misfiled = TRAIN_ROWS[difficulty], MISFILED[difficulty]
    rows = cut + TEST_ROWS[difficulty]
    canal = draw_canal(rng)
    texts, logit = write_notes(rng, canal, rows, QUOTING[difficulty])
    day = rng.integers(0, 730, rows)
    chance = np.exp(logit + draw_waves(rng, day / 365.25))
    chance = (1 - misfiled) * chance / chance.sum(axis=1, keepdims=True) + misfiled / len(DESKS)
    desk = (rng.random((rows, 1)) > chance.cumsum(axis=1)[:, :-1]).sum(axis=1)
    table = pd.DataFrame(
        {
            "note_id": [f"N{number:06d}" for number in distinct_numbers(rng, 900_000, rows)],
            "received": (pd.Timestamp("2021-03-01") + pd.to_timedelta(day, unit="D")).strftime("%Y-%m-%d"),
            "text": misspell(rng, texts, MISSPELT[difficulty]),
        }
    )
    test = table.iloc[cut:].reset_index(drop=True)
    answers = pd.DataFrame(np.eye(len(DESKS), dtype=int)[desk[cut:]], columns=list(DESKS))
    answers.insert(0, "note_id", test["note_id"])
    return ForgedData(
        public=PublicData(train=table.iloc[:cut].assign(desk=np.array(DESKS)[desk[:cut]]), test=test),
        answers=answers,
        sample=answers.assign(**dict.fromkeys(DESKS, 1 / len(DESKS))),
        ceiling=chance[cut:],
    )


def _logistic(train: Any, target: np.ndarray, test: Any, *, strength: float) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression

    return np.asarray(LogisticRegression(C=strength, max_iter=40, tol=1e-3).fit(train, target).predict_proba(test))


def _softened(chance: np.ndarray, share: float) -> np.ndarray:
    """Chances mixed with some ignorance, so that a sure mistake does not cost everything."""
    return (1 - share) * chance + share / len(DESKS)


def shares(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """The share of each desk among notes of about the same length."""
    length = data.train["text"].str.len()
    edges = np.quantile(length, np.linspace(0, 1, int(rng.integers(3, 9)))[1:-1])
    counts = np.full((len(edges) + 1, len(DESKS)), 5)
    np.add.at(counts, (np.searchsorted(edges, length), np.searchsorted(DESKS, data.train["desk"])), 1)
    means = counts / counts.sum(axis=1, keepdims=True)
    return np.asarray(means[np.searchsorted(edges, data.test["text"].str.len())])


def neighbours(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    from sklearn.neighbors import KNeighborsClassifier

    train, target, test = vectors(data, "tfidf")
    return _softened(KNeighborsClassifier(int(rng.integers(15, 80))).fit(train, target).predict_proba(test), 0.1)


def tree(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """A tree over the words that occur most."""
    from sklearn.tree import DecisionTreeClassifier

    train, target, test = vectors(data, "counts", max_features=int(rng.integers(50, 300)), binary=True)
    model = DecisionTreeClassifier(min_samples_leaf=int(rng.integers(20, 80)), random_state=0)
    return _softened(model.fit(train, target).predict_proba(test), 0.05)


def bayes(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    from sklearn.naive_bayes import MultinomialNB

    train, target, test = vectors(data, "counts", min_df=int(rng.integers(1, 6)))
    return np.asarray(MultinomialNB(alpha=rng.uniform(0.5, 3)).fit(train, target).predict_proba(test))


def bag_of_words(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    words = vectors(
        data, "counts", min_df=int(rng.integers(1, 4)), stop_words="english" if rng.random() < 0.5 else None
    )
    return _logistic(*words, strength=10 ** rng.uniform(-1.5, 0.3))


def tfidf(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    train, target, test = vectors(data, "tfidf", min_df=int(rng.integers(1, 4)))
    rows = subsample(len(target), rng.uniform(0.7, 1), rng)
    return _logistic(train[rows], target[rows], test, strength=10 ** rng.uniform(-0.6, 0.3))


def word_ngrams(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    settings = {"ngram_range": (1, int(rng.integers(2, 4))), "min_df": 3, "sublinear_tf": True}
    return _logistic(*vectors(data, "tfidf", without_quotes, **settings), strength=10 ** rng.uniform(0, 0.7))


def weighted_ngrams(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """One linear model per desk on n-grams weighted by naive Bayes' log ratios."""
    from sklearn.linear_model import LogisticRegression

    settings = {"ngram_range": (1, int(rng.integers(2, 4))), "min_df": 2, "binary": True}
    train, target, test = vectors(data, "counts", joined, **settings)
    model = LogisticRegression(C=10 ** rng.uniform(-1.5, -0.5), solver="liblinear", tol=1e-2)
    chance = np.empty((len(data.test), len(DESKS)))
    for number, desk in enumerate(DESKS):
        inside, outside = (train[rows].sum(axis=0).A1 + 1 for rows in (target == desk, target != desk))
        ratio = np.log(inside / inside.sum()) - np.log(outside / outside.sum())
        model.fit(train.multiply(ratio).tocsr(), target == desk)
        chance[:, number] = model.predict_proba(test.multiply(ratio).tocsr())[:, 1]
    return np.asarray(chance / chance.sum(axis=1, keepdims=True))


def word_pieces(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    return _logistic(*pieces(data, int(rng.integers(3, 5))), strength=10 ** rng.uniform(-0.2, 0.5))


def prepared_ngrams(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    settings = {"ngram_range": (1, int(rng.integers(2, 4))), "min_df": 3, "sublinear_tf": True}
    return _beside_header(data, vectors(data, "tfidf", joined, **settings), rng)


def prepared_pieces(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    return _beside_header(data, pieces(data, int(rng.integers(3, 5))), rng)


def _beside_header(data: PublicData, matrices: TextMatrices, rng: np.random.Generator) -> np.ndarray:
    """A linear model on the words next to what the first sentence and the date say."""
    from scipy.sparse import hstack

    (train, target, test), (near_train, _, near_test) = matrices, marked(data, [who_and_when])
    share = rng.uniform(0.2, 0.5)
    train, test = hstack([train, share * near_train]).tocsr(), hstack([test, share * near_test]).tocsr()
    return _logistic(train, target, test, strength=10 ** rng.uniform(-0.1, 0.6))


def partial_reading(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """A close reading by someone who overlooked a thing or two."""
    chosen = rng.permutation(len(READERS))[: -rng.integers(1, 3)]
    return _logistic(*marked(data, [READERS[number] for number in chosen]), strength=10 ** rng.uniform(-0.7, 0.1))


def close_reading(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    return _logistic(*marked(repaired(data), READERS), strength=10 ** rng.uniform(-0.7, 0.1))


def lots_aware(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    return _reckon_with_lots(*marked(repaired(data), READERS), rng)


def _reckon_with_lots(train: Any, target: np.ndarray, test: Any, rng: np.random.Generator) -> np.ndarray:
    """Logistic regression for desks of which a share was drawn by lot."""
    from scipy.optimize import minimize
    from scipy.special import softmax

    share, strength = rng.uniform(0.03, 0.10), 10 ** rng.uniform(-0.5, 0.3)
    chosen = target[:, None] == np.array(DESKS)

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(-1, len(DESKS))
        chance = softmax(train @ weights, axis=1)
        meant = (1 - share) * chance[chosen]
        seen = meant + share / len(DESKS)
        slope = train.T @ ((meant / seen)[:, None] * (chance - chosen)) + weights / strength
        return float((weights**2).sum() / (2 * strength) - np.log(seen).sum()), slope.ravel()

    found = minimize(loss, np.zeros(train.shape[1] * len(DESKS)), jac=True, method="L-BFGS-B")
    return _softened(softmax(test @ found.x.reshape(-1, len(DESKS)), axis=1), share)


def blend(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Two fits of the close reading with a little of the pieces of words, mixed as logits."""
    marks = marked(repaired(data), READERS)
    parts = (_reckon_with_lots(*marks, rng), _reckon_with_lots(*marks, rng), prepared_pieces(data, rng))
    mixed = np.exp(np.tensordot(rng.dirichlet([10, 10, 1]), np.log(parts), axes=1))
    return np.asarray(mixed / mixed.sum(axis=1, keepdims=True))


def default_tfidf(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression

    train, target, test = vectors(data, "tfidf")
    return np.asarray(LogisticRegression().fit(train, target).predict_proba(test))


def default_bayes(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    from sklearn.naive_bayes import MultinomialNB

    train, target, test = vectors(data, "counts")
    return np.asarray(MultinomialNB().fit(train, target).predict_proba(test))


def _one_hot(target: np.ndarray) -> np.ndarray:
    return np.asarray(target[:, None] == np.array(DESKS), dtype=float)


def _counted(data: PublicData, edit: Callable[[str], str] = str) -> TextMatrices:
    train, target, test = vectors(data, "counts", edit, min_df=2)
    return train.toarray(), _one_hot(target), test.toarray()


@read_once
def words(data: PublicData) -> TextMatrices:
    return _counted(data)


@read_once
def joined_words(data: PublicData) -> TextMatrices:
    return _counted(data, joined)


@read_once
def marks(data: PublicData) -> TextMatrices:
    rows = found_marks(data, READERS)
    columns = {mark: column for column, mark in enumerate(sorted({mark for row in rows for mark in row}))}
    matrix = np.zeros((len(rows), len(columns)))
    for line, row in zip(matrix, rows, strict=True):
        line[[columns[mark] for mark in row]] = list(row.values())
    train, target, test = split(data, matrix)
    return train, _one_hot(target), test


def as_chances(prediction: np.ndarray) -> np.ndarray:
    """Predicted shares as probabilities, none of them too sure."""
    chance = np.clip(prediction, 0.05, 0.9)
    return np.asarray(chance / chance.sum(axis=1, keepdims=True))


family = Family(
    name="text-classification",
    title="Which desk has to act?",
    kind="text classification",
    metric=log_loss,
    submission=SUBMISSION,
    draw=RETELLING.drawn(draw),
    form=RETELLING.form_of(SUBMISSION),
    pipelines=(
        Pipeline("desk shares by length", "naive", shares, 4),
        Pipeline("nearest neighbours", "naive", neighbours, 3),
        Pipeline("tree on frequent words", "naive", tree, 4),
        Pipeline("naive Bayes", "naive", bayes, 6),
        Pipeline("bag of words", "plain", bag_of_words, 6),
        Pipeline("TF-IDF as is", "plain", tfidf, 7),
        Pipeline("word n-grams", "good", word_ngrams, 3),
        Pipeline("naive Bayes weights", "good", weighted_ngrams, 4),
        Pipeline("prepared n-grams", "good", prepared_ngrams, 3),
        Pipeline("words and their pieces", "good", word_pieces, 5),
        Pipeline("prepared pieces", "good", prepared_pieces, 5),
        Pipeline("partial reading", "good", partial_reading, 7),
        Pipeline("close reading", "expert", close_reading, 4),
        Pipeline("close reading aware of the lots", "expert", lots_aware, 4),
        Pipeline("blend", "expert", blend, 3),
    ),
    defaults=(
        Pipeline("TfidfVectorizer() + LogisticRegression()", "plain", default_tfidf, 0),
        Pipeline("CountVectorizer() + MultinomialNB()", "plain", default_bayes, 0),
    ),
    tiny=(
        Pipeline("desk shares by length", "naive", shares, 3),
        Pipeline("linear on words", "plain", linear(words, (2, 4), as_chances), 5),
        Pipeline("kernel on words", "plain", smooth(words, (-1, 1), as_chances), 4),
        Pipeline("linear on joined words", "good", linear(joined_words, (2, 4), as_chances), 4),
        Pipeline("linear on marks", "good", linear(marks, (2, 3.5), as_chances), 5),
        Pipeline("kernel on marks", "expert", smooth(marks, (-1.5, 0), as_chances), 4),
    ),
)
