"""Node classification: which trade did a household follow? Three kinds of ties, circles, clerks' habits.

Every trade consists of circles. Surety ties stay within a circle, except in guarded trades, which turn to a
partner circle of another trade; goods flow from each circle to one of another trade; lodging ties know parishes
only. A household's own figures are faint and in the measure of a clerk, so they speak when put on one scale and
combined with the right neighbours. A share of the trades is copied wrongly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from podium.catalog.forge.family import Difficulty, Family, Material, Pipeline, PublicData
from podium.catalog.forge.toolbox import boosting, ordinal_encoding, subsample
from podium.metrics import f1
from podium.task import Columns, Text

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TRAIN_ROWS = {"easy": 2000, "medium": 1700, "hard": 1400}
MISCOPIED = {"easy": 0.03, "medium": 0.06, "hard": 0.10}
DISTRACTORS = {"easy": 2, "medium": 4, "hard": 8}
TEST_ROWS = 3400
TRADES = ("chandler", "cooper", "dyer", "ropemaker", "tanner")
PARISHES = 14
CLERKS = 9
FIGURES = [f"figure_{number}" for number in range(1, 9)]
STRAY = 0.25
"""The share of ties that follow no rule."""

BRIEF = """# Trades of a river port

An archive has transcribed the books of a river port of some five thousand households. For part of them the
rolls name the trade; for the others that page is lost, but their figures and their ties to other households
survive. Name the trade of every household in `test.csv`.

## Files
- `train.csv`: households whose trade is known
- `test.csv`: households whose trade is to be found, in the same town and the same web of ties
- `edges.csv`: ties between households of both files
- `sample_submission.csv`: the required form

## Columns of train.csv and test.csv
| column | meaning |
|---|---|
| household | identifier |
| parish | where the household is entered |
| clerk | who wrote the entry; every clerk had measures and habits of his own |
| figure_1 … figure_8 | holdings and dues, in the clerk's measure |
| debt | debt on the books; empty when none was entered |
| hearths | number of hearths |
{distractors}| trade | one of {trades} (train only) |

## Columns of edges.csv
| column | meaning |
|---|---|
| source, target | two households |
| kind | `surety`, `supply` or `lodging` |

`surety`: one of the two stood surety for the other, the books do not say which. `supply`: source delivered goods
to target. `lodging`: they lived under adjoining roofs.

About {miscopied:.0%} of the trades were copied wrongly, in train and test alike.

## Metric
F1 of each trade, averaged over the trades without weights (macro F1); higher is better.

## Submission
A CSV with the columns `household` and `trade`, one row per row of `test.csv`.
"""


def draw(rng: np.random.Generator, difficulty: Difficulty) -> Material:
    """Draws the town, its rolls and its ties, then the copyists' mistakes."""
    cut = TRAIN_ROWS[difficulty]
    rows = cut + TEST_ROWS
    home = np.repeat(np.arange(len(TRADES)), rng.integers(2, 5, len(TRADES)))
    circle, parish = _town(rng, rows, home)
    trade = home[circle]
    table = _rolls(rng, trade, circle, parish)
    for number in range(1, DISTRACTORS[difficulty] + 1):
        table[f"note_{number}"] = rng.normal(size=rows).round(3)
    edges = _ties(rng, circle, parish, home)
    for end in ("source", "target"):
        edges[end] = table["household"].to_numpy()[edges[end]]
    wrong = rng.random(rows) < MISCOPIED[difficulty]
    copied = np.where(wrong, (trade + rng.integers(1, len(TRADES), rows)) % len(TRADES), trade)
    names = np.array(TRADES, dtype=object)
    train, test = table.iloc[:cut].assign(trade=names[copied[:cut]]), table.iloc[cut:].reset_index(drop=True)
    answers = pd.DataFrame({"household": test["household"], "trade": names[copied[cut:]]})
    return Material(
        brief=_brief(difficulty),
        public=PublicData(train, test, tables={"edges.csv": edges}),
        answers=answers,
        sample=answers.assign(trade=TRADES[0]),
        ceiling=names[trade[cut:]],
    )


def _brief(difficulty: Difficulty) -> str:
    return BRIEF.format(
        distractors=f"| note_1 … note_{DISTRACTORS[difficulty]} | marginal notes, as numbers |\n",
        trades=", ".join(f"`{trade}`" for trade in TRADES),
        miscopied=MISCOPIED[difficulty],
    )


def _town(rng: np.random.Generator, rows: int, home: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The circle and the parish of every household; parishes have their own mix of trades."""
    size = rng.permutation(np.linspace(0.7, 1.5, len(TRADES))) / np.bincount(home)
    share = size[home] * rng.uniform(0.7, 1.3, len(home))
    circle = rng.choice(len(home), rows, p=share / share.sum())
    pull = rng.dirichlet(np.full(PARISHES, 2.0), len(TRADES)).cumsum(axis=1)
    parish = (rng.random((rows, 1)) > pull[home[circle]]).sum(axis=1)
    return circle, np.minimum(parish, PARISHES - 1)


def _rolls(rng: np.random.Generator, trade: np.ndarray, circle: np.ndarray, parish: np.ndarray) -> pd.DataFrame:
    """What the clerks wrote: two figures tell by whether their signs agree, the debt by being there."""
    rows, wide, circles = len(trade), len(FIGURES), circle.max() + 1
    middle = rng.normal(0, 0.35, (len(TRADES), wide))[trade] + rng.normal(0, 0.45, (circles, wide))[circle]
    figures = middle + rng.normal(size=(rows, wide))
    one, other = rng.permutation(wide)[:2]
    sign = np.where(rng.random(rows) < 0.75, 1, -1) * rng.permutation([1, 1, -1, -1, -1])[trade]
    figures[:, one] = sign * np.sign(figures[:, other]) * np.abs(figures[:, one])
    clerk = rng.integers(0, CLERKS, rows)
    figures = figures * rng.lognormal(0, 0.5, (CLERKS, 1))[clerk] + rng.normal(0, 1.2, (CLERKS, wide))[clerk]
    indebted = rng.random(rows) < rng.permutation(np.linspace(0.25, 0.75, len(TRADES)))[trade]
    table = pd.DataFrame({"household": [f"H{number:05d}" for number in rng.permutation(100_000)[:rows]]})
    table["parish"] = [f"P{number}" for number in (rng.permutation(90) + 10)[parish]]
    table["clerk"] = [f"C{number}" for number in (rng.permutation(90) + 10)[clerk]]
    table[FIGURES] = figures.round(3)
    table["debt"] = np.where(indebted, rng.lognormal(2.0, 0.8, rows), np.nan).round(2)
    return table.assign(hearths=1 + rng.poisson(rng.uniform(0.8, 2.4, circles)[circle]))


def _ties(rng: np.random.Generator, circle: np.ndarray, parish: np.ndarray, home: np.ndarray) -> pd.DataFrame:
    """Edges of the three kinds, by position; busy households have many."""
    activity = 0.35 + rng.lognormal(0, 0.8, len(circle))
    shift = rng.integers(1, len(TRADES), 2)
    partner, customer = (
        np.array([rng.choice(np.flatnonzero(home == (trade + step) % len(TRADES))) for trade in home]) for step in shift
    )
    guarded = np.isin(home, rng.permutation(len(TRADES))[:2])
    trusted = np.where(guarded, partner, np.arange(len(home)))
    kinds = {
        "surety": _edges(rng, circle, trusted, activity, per_household=3.2),
        "lodging": _edges(rng, parish, np.arange(PARISHES), activity, per_household=3.0),
        "supply": _edges(rng, circle, customer, activity, per_household=2.8),
    }
    for kind in ("surety", "lodging"):
        kinds[kind] = rng.permuted(kinds[kind], axis=1)
    tables = [pd.DataFrame(ends, columns=["source", "target"]).assign(kind=kind) for kind, ends in kinds.items()]
    return pd.concat(tables).sample(frac=1, random_state=rng, ignore_index=True)


def _edges(
    rng: np.random.Generator,
    group: np.ndarray,
    preferred: np.ndarray,
    activity: np.ndarray,
    *,
    per_household: float,
) -> np.ndarray:
    """Pairs of households: a source by activity, a target by activity within the group the source prefers."""
    rows = len(group)
    source = rng.choice(rows, int(per_household * rows), p=activity / activity.sum())
    mass = np.bincount(group, activity, len(preferred))
    stray = rng.choice(len(mass), len(source), p=mass / mass.sum())
    chosen = np.where(rng.random(len(source)) < STRAY, stray, preferred[group[source]])
    order = np.argsort(group, kind="stable")
    aim = (np.cumsum(mass) - mass)[chosen] + rng.random(len(source)) * mass[chosen]
    target = order[np.minimum(np.searchsorted(np.cumsum(activity[order]), aim), rows - 1)]
    return np.unique(np.column_stack([source, target])[source != target], axis=0)


@dataclass(frozen=True)
class Books:
    """The public data as arrays over all households, those of train first."""

    known: np.ndarray
    """The trades of the train households, as numbers."""
    plain: np.ndarray
    """The columns as they lie; texts are category numbers, blanks zero."""
    level: np.ndarray
    """Figures put on one scale per clerk, their products, whether there is debt, parishes as columns."""
    ties: dict[str, csr_array]
    """Who is tied to whom, by kind and direction."""

    @property
    def train(self) -> np.ndarray:
        return np.arange(len(self.known))

    def shown(self, rows: np.ndarray) -> np.ndarray:
        """A column per trade that holds a one where a household in `rows` follows it."""
        labels = np.zeros((len(self.plain), len(TRADES)))
        labels[rows, self.known[rows]] = 1
        return labels

    def means(self, values: np.ndarray) -> np.ndarray:
        """The mean of the values over every household's neighbours, tie by tie."""
        return np.hstack([tie @ values / np.maximum(tie.sum(axis=1), 1)[:, None] for tie in self.ties.values()])


def read_books(data: PublicData) -> Books:
    """Both tables as one, with the ties by position."""
    train, test = data.train.drop(columns=["household", "trade"]), data.test.drop(columns="household")
    return Books(
        known=data.train["trade"].map(TRADES.index).to_numpy(),
        plain=np.nan_to_num(np.vstack(ordinal_encoding(train, test))),
        level=_on_one_scale(pd.concat([train, test], ignore_index=True)),
        ties=_tie_matrices(data),
    )


def _on_one_scale(table: pd.DataFrame) -> np.ndarray:
    by_clerk = table.groupby("clerk")[FIGURES]
    figures = ((table[FIGURES] - by_clerk.transform("mean")) / by_clerk.transform("std")).to_numpy()
    first, second = np.triu_indices(len(FIGURES), 1)
    indebted = table[["debt"]].notna().to_numpy(float)
    parishes = pd.get_dummies(table["parish"]).to_numpy(float)
    rest = table.drop(columns=["parish", "clerk", "debt", *FIGURES]).to_numpy(float)
    return np.hstack([figures, indebted, rest, parishes, figures[:, first] * figures[:, second]])


def _tie_matrices(data: PublicData) -> dict[str, csr_array]:
    from scipy.sparse import csr_array

    position = pd.Index([*data.train["household"], *data.test["household"]])
    ties = {}
    for kind, edges in data.tables["edges.csv"].groupby("kind"):
        ends = (position.get_indexer(edges["source"]), position.get_indexer(edges["target"]))
        tie = csr_array((np.ones(len(edges)), ends), shape=(len(position), len(position)))
        ties[str(kind)] = tie if kind == "supply" else (tie + tie.T).tocsr()
    return ties | {"supplied by": ties["supply"].T.tocsr()}


def _probabilities(model: Any, columns: np.ndarray, books: Books, rows: np.ndarray | None = None) -> np.ndarray:
    """What a model trained on the known trades (or on those in `rows`) thinks of every household."""
    rows = books.train if rows is None else rows
    probabilities: np.ndarray = model.fit(columns[rows], books.known[rows]).predict_proba(columns)
    return probabilities


Opinion = Callable[[Books, np.random.Generator], np.ndarray]
"""Computes columns, or probabilities of the trades, for every household."""


def names(opinion: Opinion) -> Callable[[PublicData, np.random.Generator], np.ndarray]:
    """A pipeline that names the trade an opinion thinks likeliest for each test household."""

    def predict(data: PublicData, rng: np.random.Generator) -> np.ndarray:
        books = read_books(data)
        return np.array(TRADES, dtype=object)[opinion(books, rng)[len(books.known) :].argmax(axis=1)]

    return predict


def trained(model: Callable[[np.random.Generator], Any], columns: Opinion) -> Opinion:
    """The opinion of a model trained on columns."""
    return lambda books, rng: _probabilities(model(rng), columns(books, rng), books)


def default(module: str, name: str) -> Callable[[np.random.Generator], Any]:
    """A model of scikit-learn as it comes."""
    return lambda rng: getattr(import_module(f"sklearn.{module}"), name)(random_state=0)


def logistic(strength: float) -> Callable[[np.random.Generator], Any]:
    """Logistic regression on scaled columns, regularised about as much as `strength` says."""

    def model(rng: np.random.Generator) -> Any:
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        chosen = strength * 10 ** rng.uniform(-0.5, 0.5)
        return make_pipeline(StandardScaler(), LogisticRegression(C=chosen, max_iter=200))

    return model


def forest(rng: np.random.Generator) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    trees, leaf, seed = (int(rng.integers(*span)) for span in ((40, 120), (1, 6), (0, 2**31)))
    return RandomForestClassifier(trees, min_samples_leaf=leaf, random_state=seed)


def extra_trees(rng: np.random.Generator) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    trees, leaf, seed = (int(rng.integers(*span)) for span in ((80, 140), (2, 5), (0, 2**31)))
    share = float(rng.choice([0.1, 0.2, 0.3]))
    return ExtraTreesClassifier(trees, min_samples_leaf=leaf, max_features=share, random_state=seed)


def tree(rng: np.random.Generator) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    depth, seed = (int(rng.integers(*span)) for span in ((3, 9), (0, 2**31)))
    return DecisionTreeClassifier(max_depth=depth, random_state=seed)


def boosted(rng: np.random.Generator) -> Any:
    return boosting(rng, classify=True, learning_rate=0.08, max_iter=int(rng.integers(45, 80)))


def as_they_lie(books: Books, rng: np.random.Generator) -> np.ndarray:
    return books.plain


def on_one_scale(books: Books, rng: np.random.Generator) -> np.ndarray:
    return books.level


def number_of_ties(books: Books, rng: np.random.Generator) -> np.ndarray:
    return np.column_stack([tie.sum(axis=1) for tie in books.ties.values()])


def labels_by_tie(books: Books, rng: np.random.Generator) -> np.ndarray:
    """The own columns and what the neighbours of each kind do."""
    return np.hstack([books.plain, books.means(books.shown(books.train))])


def convolved(books: Books, rng: np.random.Generator) -> np.ndarray:
    """The own columns and their means over one or two steps: a simplified graph convolution."""
    near = books.means(books.level)
    far = [books.means(near[:, : len(FIGURES)])] if rng.random() < 0.5 else []
    return np.hstack([books.level, near, *far])


def embedded(books: Books, rng: np.random.Generator) -> np.ndarray:
    """Columns on one scale and singular vectors of the ties that know circles; the busy count little more."""
    from scipy.sparse.linalg import svds

    size, softening = int(rng.integers(16, 25)), float(rng.choice([1.0, 2.0, 4.0]))
    columns = [books.level]
    for kind in ("surety", "supply"):
        out, into = (1 / np.sqrt(books.ties[kind].sum(axis=axis) + softening) for axis in (1, 0))
        scaled = (books.ties[kind] * out[:, None] * into).tocsr()
        left, weight, right = svds(scaled, k=size, v0=rng.normal(size=len(out)))
        columns += [left * weight, right.T * weight]
    return np.hstack(columns)


def everything(books: Books, rng: np.random.Generator) -> np.ndarray:
    """Embedding, labels by tie and the neighbours' figures."""
    near = books.means(np.hstack([books.shown(books.train), books.level[:, : len(FIGURES)]]))
    return np.hstack([embedded(books, rng), near])


def custom_of_the_parish(books: Books, rng: np.random.Generator) -> np.ndarray:
    """The trades of a part of the parish's known households."""
    rows = subsample(len(books.known), rng.uniform(0.3, 1), rng)
    parish = books.plain[:, 0].astype(int)
    counts = np.zeros((parish.max() + 1, len(TRADES)))
    np.add.at(counts, (parish[rows], books.known[rows]), 1)
    return counts[parish]


def vote(books: Books, rng: np.random.Generator) -> np.ndarray:
    """The known trades of all neighbours, whatever the tie."""
    labels = books.shown(subsample(len(books.known), rng.uniform(0.6, 1), rng))
    return np.sum([tie @ labels for tie in books.ties.values()], axis=0) + 0.1 * labels.mean(axis=0)


def propagation(books: Books, rng: np.random.Generator) -> np.ndarray:
    """Spreads the known trades along the surety ties, as if those always joined a trade with itself."""
    labels, surety = books.shown(books.train), books.ties["surety"]
    keep, spread, degree = rng.uniform(0.05, 0.4), labels, np.maximum(surety.sum(axis=1), 1)[:, None]
    for _ in range(int(rng.integers(4, 20))):
        spread = (1 - keep) * (surety @ spread) / degree + keep * labels
    return spread / spread.sum(axis=0)


def beliefs(prior: Opinion) -> Opinion:
    """A prior opinion after talking with the neighbours."""
    return lambda books, rng: _settle(books, prior(books, rng), books.train, rng)


def _settle(books: Books, prior: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Learns from `rows` which trades each tie joins, then lets beliefs travel along the ties."""
    labels, evidence = books.shown(rows), []
    for tie in books.ties.values():
        joined = labels.T @ (tie @ labels) + 2
        evidence.append(np.log(joined * joined.sum() / np.outer(joined.sum(axis=1), joined.sum(axis=0))))
    own, belief, trust = np.log(np.clip(prior, 1e-4, 1)), labels, rng.uniform(0.3, 0.9)
    for _ in range(int(rng.integers(2, 10))):
        heard = [tie @ belief @ log.T for tie, log in zip(books.ties.values(), evidence, strict=True)]
        logit = own + trust * np.sum(heard, axis=0)
        belief = np.exp(logit - logit.max(axis=1, keepdims=True))
        belief /= belief.sum(axis=1, keepdims=True)
        belief[rows] = 0.2 * belief[rows] + 0.8 * labels[rows]
    return belief


def hearsay(books: Books, rng: np.random.Generator) -> np.ndarray:
    """The embedding with beliefs about the household and its neighbours."""
    heard = _overheard(books, books.train, rng)
    folds = int(rng.integers(3, 6))
    fold = rng.integers(0, folds, len(books.known))
    for number in range(folds):
        # Neighbours have heard of a household's own label; train rows need beliefs that were not shown it.
        held = np.flatnonzero(fold == number)
        heard[held] = _overheard(books, np.flatnonzero(fold != number), rng)[held]
    return np.hstack([embedded(books, rng), heard])


def _overheard(books: Books, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Beliefs and labels in the neighbourhood, as far as the labels of `rows` tell."""
    prior = _probabilities(logistic(0.02)(rng), books.level, books, rows)
    belief = _settle(books, prior, rows, rng)
    return np.hstack([prior, np.log(belief + 1e-3), books.means(belief), books.means(books.shown(rows))])


def blend(*opinions: Opinion) -> Opinion:
    """Opinions averaged as logarithms."""
    return lambda books, rng: np.mean([np.log(np.clip(opinion(books, rng), 1e-3, 1)) for opinion in opinions], axis=0)


FROM_FIGURES = beliefs(trained(logistic(0.02), on_one_scale))
FROM_EMBEDDING = beliefs(trained(logistic(0.02), embedded))
STACKED = trained(extra_trees, hearsay)

family = Family(
    name="graph",
    title="Trades of a river port",
    kind="node classification",
    metric=f1.using(average="macro", title="macro F1"),
    submission=Columns(id="household", target="trade", values=Text(blank=False, choices=TRADES)),
    draw=draw,
    pipelines=(
        Pipeline("custom of the parish", "naive", names(custom_of_the_parish), 4),
        Pipeline("tree on the number of ties", "naive", names(trained(tree, number_of_ties)), 4),
        Pipeline("vote of all neighbours", "naive", names(vote), 4),
        Pipeline("label propagation", "plain", names(propagation), 5),
        Pipeline("linear as is", "plain", names(trained(logistic(0.3), as_they_lie)), 5),
        Pipeline("random forest as is", "plain", names(trained(forest, as_they_lie)), 6),
        Pipeline("boosting as is", "plain", names(trained(boosted, as_they_lie)), 6),
        Pipeline("linear on one scale", "plain", names(trained(logistic(0.02), on_one_scale)), 3),
        Pipeline("boosting on labels by tie", "good", names(trained(boosted, labels_by_tie)), 4),
        Pipeline("simplified graph convolution", "good", names(trained(logistic(0.01), convolved)), 4),
        Pipeline("linear on embedding", "good", names(trained(logistic(0.05), embedded)), 4),
        Pipeline("extra trees on everything", "good", names(trained(extra_trees, everything)), 4),
        Pipeline("beliefs from figures", "expert", names(FROM_FIGURES), 4),
        Pipeline("beliefs from embedding", "expert", names(FROM_EMBEDDING), 4),
        Pipeline("extra trees on hearsay", "expert", names(STACKED), 3),
        Pipeline("blend", "expert", names(blend(FROM_FIGURES, FROM_EMBEDDING, STACKED)), 4),
    ),
    defaults=tuple(
        Pipeline(f"{name}()", "plain", names(trained(default(module, name), as_they_lie)), 0)
        for module, name in (
            ("ensemble", "HistGradientBoostingClassifier"),
            ("ensemble", "RandomForestClassifier"),
            ("linear_model", "LogisticRegression"),
        )
    ),
)
