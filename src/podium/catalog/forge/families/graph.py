"""Node classification: which trade did a household follow? Three kinds of ties, circles, clerks' habits.

Every trade consists of circles. Surety ties stay within a circle, except in guarded trades, which turn to a
partner circle of another trade; goods flow from each circle to one of another trade; lodging ties know parishes
only. A household's own figures are faint and in the measure of a clerk, so they speak when put on one scale and
combined with the right neighbours. A share of the trades is copied wrongly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.learners import (
    DEFAULT_CLASSIFIERS,
    Model,
    boosting,
    default_pipelines,
    forest,
    scaled,
    subsample,
)
from podium.catalog.forge.families.graph_data import (
    FIGURES,
    TRADES,
    PortGraph,
    draw_rolls,
    draw_ties,
    draw_town,
    read_graph,
)
from podium.catalog.forge.family import Family, ForgedData, Pipeline, Predict, PublicData
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.brief import ID_AND_TARGET
from podium.catalog.forge.world.retelling import FIVE_LABELS, OwnColumn, OwnFile, Retelling, told_as
from podium.metrics import f1
from podium.task import Columns, Text

TRAIN_ROWS = {"easy": 2000, "medium": 1700, "hard": 1400}
MISCOPIED = {"easy": 0.03, "medium": 0.06, "hard": 0.10}
DISTRACTORS = {"easy": 2, "medium": 4, "hard": 8}
TEST_ROWS = 3400

SUBMISSION = Columns(id="household", target="trade", values=Text(blank=False, choices=TRADES))

TIES = {"surety": "{pledge}", "supply": "{goods}", "lodging": "{near}"}

RETELLING = Retelling(
    asked="`{trade}`",
    rows="{agents}",
    opening=(
        ("{organisation} has copied out its books on {count:,} {agents} around {place}.",),
        (
            "For {test:,} of the {agents} of {place} the page with `{trade}` is lost, but figures and ties survive. "
            "Name it for each of the {agents} that {place} lists in `test.csv`.",
        ),
    ),
    nouns={
        "agent": (
            "family|families",
            "firm|firms",
            "trader|traders",
            "tenant|tenants",
            "partner|partners",
            "farm|farms",
        ),
        "writer": ("clerk|clerks", "scribe|scribes", "registrar|registrars", "bailiff|bailiffs", "notary|notaries"),
        "room": ("rooms", "stoves", "windows", "cellars", "wells", "beds"),
        "pledge": ("bail", "guarantee", "vouching", "security"),
        "goods": ("delivery", "sale", "goods", "freight"),
        "near": ("neighbours", "shared wall", "next door", "adjoining"),
    },
    columns=(
        OwnColumn("household", "{agent}", "identifier", "key"),
        OwnColumn("parish", "{region}", "where the {agent} is entered", "key"),
        OwnColumn("clerk", "{writer}", "{writer} of the entry, with own measures", "key"),
        OwnColumn("figure_#", "{name18} holding/due/tax", "holdings and dues, in that measure", "number"),
        OwnColumn("debt", "debt|arrears|owed|unpaid", "debt on the books; empty when none was entered", "number"),
        OwnColumn("hearths", "{room}", "number of {room}", "number"),
        OwnColumn("note_#", "{name19} remark/note/margin", "notes in the margin, as numbers", "number"),
        OwnColumn(
            "trade", "{agent} mark/sign/concern", f"one of {FIVE_LABELS}", values=told_as("label", TRADES), file="train"
        ),
        OwnColumn("source", "first/one/this {agent}", "a {agent}", file="{edges_csv}"),
        OwnColumn("target", "second/other/that {agent}", "another {agent}", file="{edges_csv}"),
        OwnColumn("kind", "tie/bond/relation", "`{pledge}`, `{goods}` or `{near}`", values=TIES, file="{edges_csv}"),
    ),
    files=(OwnFile("edges.csv", "{place} ties/bonds/relations", "ties between {agents} of both files"),),
    notes=(
        "`{pledge}` in `{kind}`: one vouched for the other; the books do not say which.",
        "`{goods}` in `{kind}`: `{source}` delivered goods to `{target}`.",
        "`{near}` in `{kind}`: they lived under adjoining roofs.",
        "Each {writer} of {place} had particular measures and habits (see `{clerk}`).",
        "About {miscopied:.0%} of the entries of `{trade}` were copied wrongly, in train and test alike.",
    ),
    metric="F1 of each value of `{target}`, averaged without weights (macro F1).\nHigher is better.",
    form=ID_AND_TARGET,
    facts=lambda difficulty: {"miscopied": MISCOPIED[difficulty]},
)


def draw(rng: np.random.Generator, difficulty: Difficulty) -> ForgedData:
    """Draws the town, its rolls and its ties, then the copyists' mistakes."""
    cut = TRAIN_ROWS[difficulty]
    rows = cut + TEST_ROWS
    home = np.repeat(np.arange(len(TRADES)), rng.integers(2, 5, len(TRADES)))
    circle, parish = draw_town(rng, rows, home)
    trade = home[circle]
    table = draw_rolls(rng, trade, circle, parish)
    for number in range(1, DISTRACTORS[difficulty] + 1):
        table[f"note_{number}"] = rng.normal(size=rows).round(3)
    edges = draw_ties(rng, circle, parish, home)
    for end in ("source", "target"):
        edges[end] = table["household"].to_numpy()[edges[end]]
    wrong = rng.random(rows) < MISCOPIED[difficulty]
    copied = np.where(wrong, (trade + rng.integers(1, len(TRADES), rows)) % len(TRADES), trade)
    names = np.array(TRADES, dtype=object)
    train, test = table.iloc[:cut].assign(trade=names[copied[:cut]]), table.iloc[cut:].reset_index(drop=True)
    answers = pd.DataFrame({"household": test["household"], "trade": names[copied[cut:]]})
    return ForgedData(
        public=PublicData(train, test, tables={"edges.csv": edges}),
        answers=answers,
        sample=answers.assign(trade=TRADES[0]),
        ceiling=names[trade[cut:]],
    )


def _probabilities(model: Any, columns: np.ndarray, graph: PortGraph, rows: np.ndarray | None = None) -> np.ndarray:
    """Probabilities for every household by a model trained on the known trades (or on those in `rows`)."""
    rows = graph.train if rows is None else rows
    probabilities: np.ndarray = model.fit(columns[rows], graph.known[rows]).predict_proba(columns)
    return probabilities


ColumnEstimate = Callable[[PortGraph, np.random.Generator], np.ndarray]
"""Computes columns, or probabilities of the trades, for every household."""


def classifier(estimate: ColumnEstimate) -> Predict:
    """A pipeline that predicts the likeliest trade of each test household by an estimate."""

    def predict(data: PublicData, rng: np.random.Generator) -> np.ndarray:
        graph = read_graph(data)
        return np.asarray(np.array(TRADES, dtype=object)[estimate(graph, rng)[len(graph.known) :].argmax(axis=1)])

    return predict


def trained(model: Model, columns: ColumnEstimate) -> ColumnEstimate:
    """The estimate of a model trained on columns."""
    return lambda graph, rng: _probabilities(model(rng), columns(graph, rng), graph)


def logistic(strength: float) -> Model:
    """Logistic regression on scaled columns, regularised about as much as `strength` says."""

    def model(rng: np.random.Generator) -> Any:
        from sklearn.linear_model import LogisticRegression

        return scaled(LogisticRegression(C=strength * 10 ** rng.uniform(-0.5, 0.5), max_iter=200))

    return model


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


def plain_columns(graph: PortGraph, rng: np.random.Generator) -> np.ndarray:
    return graph.plain


def scaled_columns(graph: PortGraph, rng: np.random.Generator) -> np.ndarray:
    return graph.level


def number_of_ties(graph: PortGraph, rng: np.random.Generator) -> np.ndarray:
    return np.column_stack([tie.sum(axis=1) for tie in graph.ties.values()])


def labels_by_tie(graph: PortGraph, rng: np.random.Generator) -> np.ndarray:
    """The own columns and what the neighbours of each kind do."""
    return np.hstack([graph.plain, graph.means(graph.shown(graph.train))])


def convolved(graph: PortGraph, rng: np.random.Generator) -> np.ndarray:
    """The own columns and their means over one or two steps: a simplified graph convolution."""
    near = graph.means(graph.level)
    far = [graph.means(near[:, : len(FIGURES)])] if rng.random() < 0.5 else []
    return np.hstack([graph.level, near, *far])


def embedded(graph: PortGraph, rng: np.random.Generator) -> np.ndarray:
    """Columns on one scale and singular vectors of the ties that know circles; the busy count little more."""
    from scipy.sparse.linalg import svds

    size, softening = int(rng.integers(16, 25)), float(rng.choice([1.0, 2.0, 4.0]))
    columns = [graph.level]
    for kind in ("surety", "supply"):
        out, into = (1 / np.sqrt(graph.ties[kind].sum(axis=axis) + softening) for axis in (1, 0))
        scaled = (graph.ties[kind] * out[:, None] * into).tocsr()
        left, weight, right = svds(scaled, k=size, v0=rng.normal(size=len(out)))
        columns += [left * weight, right.T * weight]
    return np.hstack(columns)


def all_columns(graph: PortGraph, rng: np.random.Generator) -> np.ndarray:
    """Embedding, labels by tie and the neighbours' figures."""
    near = graph.means(np.hstack([graph.shown(graph.train), graph.level[:, : len(FIGURES)]]))
    return np.hstack([embedded(graph, rng), near])


def rates_per_parish(graph: PortGraph, rng: np.random.Generator) -> np.ndarray:
    """The trades of a part of the parish's known households."""
    rows = subsample(len(graph.known), rng.uniform(0.3, 1), rng)
    parish = graph.plain[:, 0].astype(int)
    counts = np.zeros((parish.max() + 1, len(TRADES)))
    np.add.at(counts, (parish[rows], graph.known[rows]), 1)
    return np.asarray(counts[parish])


def vote(graph: PortGraph, rng: np.random.Generator) -> np.ndarray:
    """The known trades of all neighbours, whatever the tie."""
    labels = graph.shown(subsample(len(graph.known), rng.uniform(0.6, 1), rng))
    return np.asarray(np.sum([tie @ labels for tie in graph.ties.values()], axis=0) + 0.1 * labels.mean(axis=0))


def propagation(graph: PortGraph, rng: np.random.Generator) -> np.ndarray:
    """Spreads the known trades along the surety ties, as if those always joined a trade with itself."""
    labels, surety = graph.shown(graph.train), graph.ties["surety"]
    keep, spread, degree = rng.uniform(0.05, 0.4), labels, np.maximum(surety.sum(axis=1), 1)[:, None]
    for _ in range(int(rng.integers(4, 20))):
        spread = (1 - keep) * (surety @ spread) / degree + keep * labels
    return np.asarray(spread / spread.sum(axis=0))


def belief_propagation(prior: ColumnEstimate) -> ColumnEstimate:
    """A prior estimate, updated by belief propagation along the ties."""
    return lambda graph, rng: _propagate_beliefs(graph, prior(graph, rng), graph.train, rng)


def _propagate_beliefs(graph: PortGraph, prior: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Learns from `rows` which trades each tie joins, then propagates beliefs along the ties."""
    labels, evidence = graph.shown(rows), []
    for tie in graph.ties.values():
        joined = labels.T @ (tie @ labels) + 2
        evidence.append(np.log(joined * joined.sum() / np.outer(joined.sum(axis=1), joined.sum(axis=0))))
    own, belief, trust = np.log(np.clip(prior, 1e-4, 1)), labels, rng.uniform(0.3, 0.9)
    for _ in range(int(rng.integers(2, 10))):
        heard = [tie @ belief @ log.T for tie, log in zip(graph.ties.values(), evidence, strict=True)]
        logit = own + trust * np.sum(heard, axis=0)
        belief = np.exp(logit - logit.max(axis=1, keepdims=True))
        belief /= belief.sum(axis=1, keepdims=True)
        belief[rows] = 0.2 * belief[rows] + 0.8 * labels[rows]
    return belief


def belief_features(graph: PortGraph, rng: np.random.Generator) -> np.ndarray:
    """The embedding with beliefs about the household and its neighbours."""
    heard = _neighbour_beliefs(graph, graph.train, rng)
    folds = int(rng.integers(3, 6))
    fold = rng.integers(0, folds, len(graph.known))
    for number in range(folds):
        # Beliefs spread a household's own label to its neighbours and back; train rows need some without it.
        held = np.flatnonzero(fold == number)
        heard[held] = _neighbour_beliefs(graph, np.flatnonzero(fold != number), rng)[held]
    return np.hstack([embedded(graph, rng), heard])


def _neighbour_beliefs(graph: PortGraph, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Beliefs and labels in the neighbourhood, as far as the labels of `rows` tell."""
    prior = _probabilities(logistic(0.02)(rng), graph.level, graph, rows)
    belief = _propagate_beliefs(graph, prior, rows, rng)
    return np.hstack([prior, np.log(belief + 1e-3), graph.means(belief), graph.means(graph.shown(rows))])


def blend(*estimates: ColumnEstimate) -> ColumnEstimate:
    """Estimates averaged as logarithms."""
    return lambda graph, rng: np.mean(
        [np.log(np.clip(estimate(graph, rng), 1e-3, 1)) for estimate in estimates], axis=0
    )


FROM_FIGURES = belief_propagation(trained(logistic(0.02), scaled_columns))
FROM_EMBEDDING = belief_propagation(trained(logistic(0.02), embedded))
STACKED = trained(extra_trees, belief_features)

family = Family(
    name="graph",
    title="What did the lost page say?",
    kind="node classification",
    metric=f1.using(average="macro", title="macro F1"),
    submission=SUBMISSION,
    draw=RETELLING.drawn(draw),
    form=RETELLING.form_of(SUBMISSION),
    pipelines=(
        Pipeline("custom of the parish", "naive", classifier(rates_per_parish), 4),
        Pipeline("tree on the number of ties", "naive", classifier(trained(tree, number_of_ties)), 4),
        Pipeline("vote of all neighbours", "naive", classifier(vote), 4),
        Pipeline("label propagation", "plain", classifier(propagation), 5),
        Pipeline("linear as is", "plain", classifier(trained(logistic(0.3), plain_columns)), 5),
        Pipeline("random forest as is", "plain", classifier(trained(forest(trees=(40, 120)), plain_columns)), 6),
        Pipeline("boosting as is", "plain", classifier(trained(boosted, plain_columns)), 6),
        Pipeline("linear on one scale", "plain", classifier(trained(logistic(0.02), scaled_columns)), 3),
        Pipeline("boosting on labels by tie", "good", classifier(trained(boosted, labels_by_tie)), 4),
        Pipeline("simplified graph convolution", "good", classifier(trained(logistic(0.01), convolved)), 4),
        Pipeline("linear on embedding", "good", classifier(trained(logistic(0.05), embedded)), 4),
        Pipeline("extra trees on everything", "good", classifier(trained(extra_trees, all_columns)), 4),
        Pipeline("beliefs from figures", "expert", classifier(FROM_FIGURES), 4),
        Pipeline("beliefs from embedding", "expert", classifier(FROM_EMBEDDING), 4),
        Pipeline("extra trees on hearsay", "expert", classifier(STACKED), 3),
        Pipeline("blend", "expert", classifier(blend(FROM_FIGURES, FROM_EMBEDDING, STACKED)), 4),
    ),
    defaults=default_pipelines(DEFAULT_CLASSIFIERS, lambda model: classifier(trained(model, plain_columns))),
)
