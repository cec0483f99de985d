"""Ranking: what will the members of a garden cooperative order next month?

Taste lies in tables and in time: plots prefer shelves, growers and prices, members have a taste of their own and
some change it, goods have seasons and fashions. Some goods are due again after so many weeks, others last for
years, and what was looked at last month is often ordered in the next. Some orders are for somebody else.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.learners import boosting, scaled, subsample
from podium.catalog.forge.families.ranking_data import (
    DAYS,
    FIRST_DAY,
    MONTHS,
    PLOTS,
    QUARTERS,
    SHELVES,
    draw_cooperative,
    draw_items,
    draw_members,
    simulate_months,
)
from podium.catalog.forge.families.ranking_features import (
    MemberHistory,
    alternate,
    best_ten,
    cosine_similarity,
    due,
    faded,
    forecast,
    group_means,
    plot_trend,
    read_history,
    similar_item_scores,
    tastes,
    trend,
)
from podium.catalog.forge.family import Family, ForgedData, Pipeline, PublicData
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.brief import ID_AND_TARGET
from podium.catalog.forge.world.retelling import MONEY, OwnColumn, OwnFile, Retelling, told_as
from podium.metrics import ndcg_at_k
from podium.task import Columns, Text

MEMBERS = {"easy": 2800, "medium": 2500, "hard": 2300}
FOR_OTHERS = {"easy": 0.04, "medium": 0.08, "hard": 0.15}

SUBMISSION = Columns(id="member", target="items", values=Text(blank=False))

TURNS = {"start": 0, "last": MONTHS * DAYS - 1, "begin": MONTHS * DAYS}
SPAN = {
    "months": MONTHS,
    **{name: str((FIRST_DAY + pd.Timedelta(days=day)).date()) for name, day in TURNS.items()},
}
EVENTS = {"looked": "{looked}", "ordered": "{take}"}

RETELLING = Retelling(
    asked="the {articles}",
    rows="{agents}",
    opening=(
        ("{organisation} sends the {agents} of {place} a leaflet with ten {articles} every month.",),
        (
            "Predict, for every {agent} of {place} in `test.csv`, the {articles} they will {takes} in the four weeks "
            "from {begin} on, the likeliest first.",
        ),
    ),
    nouns={
        "agent": ("member|members", "subscriber|subscribers", "customer|customers", "patron|patrons", "client|clients"),
        "article": ("article|articles", "product|products", "kit|kits", "parcel|parcels", "set|sets"),
        "looked": ("viewed", "opened", "browsed", "noticed"),
        "take": ("booked|book", "reserved|reserve", "requested|request", "rented|rent", "claimed|claim"),
    },
    pools={"kind": ("private", "public", "seasonal", "honorary", "remote", "trial", "corporate", "student")},
    columns=(
        OwnColumn("member", "{agent}", "number of the {agent}", "key", file="train, test, {members_csv}"),
        OwnColumn("item", "{article}", "number of the {article}", "key", file="train, {items_csv}"),
        OwnColumn("date", "{article} date/day/moment/time", "the day of the event", file="train"),
        OwnColumn("kind", "event/action/step", "`{looked}` (its page) or `{take}`", values=EVENTS, file="train"),
        OwnColumn(
            "shelf", "{article} group/range", "what it is for", values=told_as("label", SHELVES), file="{items_csv}"
        ),
        OwnColumn("grower", "supplier|maker|origin|source", "who supplies it", file="{items_csv}"),
        OwnColumn("price", "price|cost|charge|rate", "price of a unit", "number", MONEY, file="{items_csv}"),
        OwnColumn("listed", "{article} since/added", "on offer since, in the log", file="{items_csv}"),
        OwnColumn("plot", "{agent} kind/type", "what they are", values=told_as("kind", PLOTS), file="{members_csv}"),
        OwnColumn("district", "{region}", "where they live", values=told_as("name", QUARTERS), file="{members_csv}"),
        OwnColumn("household", "persons|heads|people|size", "how many they are", "number", file="{members_csv}"),
        OwnColumn("joined", "{agent} joined/entry", "joined on, in the log", file="{members_csv}"),
        OwnColumn(
            "items", "{article} list/choice", "up to ten {articles}, the likeliest first", file="sample_submission"
        ),
    ),
    files=(
        OwnFile("items.csv", "{place} {articles}|{place} {article} list", "the {articles} on offer"),
        OwnFile("members.csv", "{place} {agents}|{place} {agent} list", "the {agents}"),
    ),
    notes=(
        "`train.csv` has what happened in {place} in {months} months of four weeks, from {start} to {last}.",
        "What is older than {place}'s log has its first day in `{listed}` and `{joined}`.",
        "Every {agent} in `test.csv` will {takes} something; {place} lists each of them once.",
        "Each {article} of {place} counts once per month and value of `{kind}`.",
        "Some in {place} do {takes} the same {article} again, so {articles} from their log may be listed too.",
        "Of the rows of {place} with `{take}`, {for_others:.0%} are favours for others, who may want any {article}.",
    ),
    metric="NDCG@10, averaged over the {agents}.\nA right {article} at rank r of `{target}` gains 1 / log2(r + 1), "
    "and the sum is divided by that of a perfect list.\nOnly the first ten count, each once.\nHigher is better.",
    form=f"{ID_AND_TARGET}\n`{{target}}` holds up to ten values of `{{item}}` with blanks between, the best first.",
    facts=lambda difficulty: {"for_others": FOR_OTHERS[difficulty], **SPAN},
)


def draw(rng: np.random.Generator, difficulty: Difficulty) -> ForgedData:
    """Draws goods, members and their tastes, lets them live through the months, and asks for the next."""
    items, members = draw_items(rng), draw_members(rng, MEMBERS[difficulty])
    coop = draw_cooperative(rng, items, members)
    record = simulate_months(rng, coop, FOR_OTHERS[difficulty])
    codes, numbers, log = items["item"].to_numpy(), members["member"].to_numpy(), record.log
    days = (FIRST_DAY + pd.to_timedelta(np.arange(MONTHS * DAYS), unit="D")).strftime("%Y-%m-%d").to_numpy()
    train = pd.DataFrame({"member": numbers[log["member"]], "item": codes[log["item"]], "date": days[log["day"]]})
    asked = rng.permutation(np.flatnonzero(record.ordered.any(axis=1)))
    lists = [" ".join(codes[record.ordered[number]]) for number in asked]
    answers = pd.DataFrame({"member": numbers[asked], "items": lists})
    public = PublicData(
        train=train.assign(kind=log["kind"]),
        test=answers[["member"]],
        tables={"items.csv": items, "members.csv": members},
    )
    return ForgedData(
        public=public,
        answers=answers,
        sample=answers.assign(items=" ".join(np.sort(codes)[:10])),
        ceiling=best_ten(record.affinity[asked], codes),
    )


def cheapest(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """The cheapest goods of half the shelves, for everybody."""
    history = read_history(data)
    shelves = rng.permutation(len(SHELVES))[: len(SHELVES) // 2]
    return history.best_ten(10 * np.isin(history.shelf, shelves) - history.price)


def popular(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Rank the items that a sample of members ordered and looked at most."""
    history = read_history(data)
    sample = subsample(len(history.plot), rng.uniform(0.05, 1), rng)
    return history.best_ten(history.counts[sample].sum(axis=0))


def lately_popular(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    history = read_history(data)
    return history.best_ten(trend(history, rng.uniform(0.5, 6)))


def own_latest(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Rank the member's own latest orders, then the most popular items."""
    history = read_history(data)
    own = faded(history.orders, rng.uniform(0.5, 3))
    return history.best_ten(own + 1e-3 * own.mean(axis=0))


def popular_in_group(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    history = read_history(data)
    group = history.district if rng.random() < 0.4 else history.plot
    return history.best_ten(group_means(group, faded(history.orders, rng.uniform(2, 20))))


def factors(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    from sklearn.decomposition import TruncatedSVD

    history = read_history(data)
    model = TruncatedSVD(int(rng.integers(2, 12)), random_state=int(rng.integers(2**31)))
    return history.best_ten(model.inverse_transform(model.fit_transform(history.counts)))


def like_members(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Rank the items that members with the most similar logs ordered."""
    from sklearn.neighbors import NearestNeighbors

    history = read_history(data)
    model = NearestNeighbors(n_neighbors=int(rng.integers(15, 80)), metric="cosine").fit(history.counts)
    return history.best_ten(model.kneighbors_graph(history.counts) @ history.counts)


def like_items(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Rank the items that go with those of the member."""
    history = read_history(data)
    counts = history.counts ** rng.uniform(0.2, 1)
    return history.best_ten(counts @ cosine_similarity(counts))


def together_and_looks(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    history = read_history(data)
    scores = similar_item_scores(history, rng.uniform(2, 5)) + rng.uniform(0.4, 1) * trend(history, 1.5)
    return history.best_ten(scores + rng.uniform(1, 2.5) * history.curious)


def factors_and_looks(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    history = read_history(data)
    scores = alternate(history, rng, rank=int(rng.integers(6, 16)), half_life=rng.uniform(3, 6))
    scores += rng.uniform(0.05, 0.3) * trend(history, 1.5)
    return history.best_ten(scores + rng.uniform(0.3, 1.0) * history.curious)


def taste(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    history = read_history(data)
    shelf, grower, price = tastes(history, rng.uniform(3, 9), rng.uniform(4, 12))
    return history.best_ten(trend(history, rng.uniform(1, 2)) + shelf + rng.uniform(0.3, 0.9) * (grower + price))


def plot_and_habits(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Popularity of late among similar members, what is due again, and what was looked at."""
    history = read_history(data)
    scores = plot_trend(history, rng.uniform(1, 3)) + rng.uniform(0.5, 1) * due(history)
    return history.best_ten(scores + rng.uniform(1, 2.5) * history.curious)


def taste_and_habits(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Popularity of late, taste, what is due again and what was looked at, weighed by hand."""
    history = read_history(data)
    shelf, grower, price = tastes(history, rng.uniform(3, 9), rng.uniform(4, 12))
    scores = trend(history, rng.uniform(1, 2)) + shelf + rng.uniform(0.3, 0.9) * (grower + price)
    return history.best_ten(scores + rng.uniform(0.5, 1) * due(history) + rng.uniform(1, 2.5) * history.curious)


def _features(history: MemberHistory, rng: np.random.Generator) -> np.ndarray:
    """Members by items by features, for the month after the history."""
    recent = faded(history.orders, 4)
    spent = (recent @ history.price + 2 * history.price.mean()) / (recent.sum(axis=1) + 2)
    columns = [
        trend(history, 0.7),
        trend(history, 3),
        plot_trend(history, 8) - trend(history, 8),
        forecast(history),
        *tastes(history, 3, 6),
        *tastes(history, 12, 6),
        (history.price - spent[:, None]) ** 2,
        due(history),
        np.where(history.orders.any(axis=0), 1 + history.orders[::-1].argmax(axis=0), 0),
        history.shelf,
        recent,
        history.curious,
        history.looks[-1],
        faded(history.looks, 3),
        similar_item_scores(history, 4),
        alternate(history, rng, rank=6, half_life=6),
    ]
    return np.stack([np.broadcast_to(column, recent.shape) for column in columns], axis=2, dtype=np.float32)


def _examples(history: MemberHistory, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Features and outcomes of the last months: every order and some of what was not ordered."""
    features, outcomes = [], []
    for month in range(MONTHS - 3, MONTHS):
        taken = history.orders[month] > 0
        chosen = taken.any(axis=1, keepdims=True) & (taken | (rng.random(taken.shape) < 0.04))
        features.append(_features(history.until(month), rng)[chosen])
        outcomes.append(taken[chosen])
    return np.concatenate(features), np.concatenate(outcomes)


def linear_ranker(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    history = read_history(data)
    return history.best_ten(_linear_scores(*_examples(history, rng), _features(history, rng), rng))


def _linear_scores(features: np.ndarray, taken: np.ndarray, now: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression

    model = scaled(LogisticRegression(C=10 ** rng.uniform(-3, 0))).fit(features, taken)
    return np.asarray(model.decision_function(now.reshape(-1, now.shape[2])).reshape(now.shape[:2]))


def boosted_ranker(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    return _reordered(data, rng, models=1, linear=0.0)


def blend(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    return _reordered(data, rng, models=2, linear=rng.uniform(0.3, 0.6))


def _reordered(data: PublicData, rng: np.random.Generator, *, models: int, linear: float) -> np.ndarray:
    """The best candidates of the linear ranker in the order of boosted trees, with a share of its own."""
    history = read_history(data)
    features, taken = _examples(history, rng)
    now = _features(history, rng)
    scores = _linear_scores(features, taken, now, rng)
    candidates = scores >= np.partition(scores, -40, axis=1)[:, [-40]]
    candidates &= np.isin(np.arange(len(scores)), history.asked)[:, None]
    fitted = [boosting(rng, classify=True, learning_rate=0.1, max_iter=60).fit(features, taken) for _ in range(models)]
    boosted = np.mean([model.decision_function(now[candidates]) for model in fitted], axis=0)
    order = np.full(scores.shape, -np.inf)
    order[candidates] = linear * scores[candidates] + (1 - linear) * boosted
    return history.best_ten(order)


def default_neighbours(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    from sklearn.neighbors import NearestNeighbors

    history = read_history(data)
    model = NearestNeighbors().fit(history.counts)
    return history.best_ten(model.kneighbors_graph(history.counts) @ history.counts)


def default_factors(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    from sklearn.decomposition import TruncatedSVD

    history = read_history(data)
    model = TruncatedSVD(random_state=0)
    return history.best_ten(model.inverse_transform(model.fit_transform(history.counts)))


def default_popular(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    history = read_history(data)
    return history.best_ten(history.orders.sum(axis=(0, 1)))


family = Family(
    name="ranking",
    title="What will they want next?",
    kind="recommendation",
    metric=ndcg_at_k.using(title="NDCG@10", k=10),
    submission=SUBMISSION,
    draw=RETELLING.drawn(draw),
    form=RETELLING.form_of(SUBMISSION),
    pipelines=(
        Pipeline("cheapest goods", "naive", cheapest, 3),
        Pipeline("popular goods", "naive", popular, 4),
        Pipeline("own latest orders", "naive", own_latest, 4),
        Pipeline("popular of late", "plain", lately_popular, 4),
        Pipeline("popular in the group", "plain", popular_in_group, 4),
        Pipeline("truncated SVD", "plain", factors, 5),
        Pipeline("similar members", "plain", like_members, 4),
        Pipeline("similar items", "plain", like_items, 4),
        Pipeline("together, trend and looks", "good", together_and_looks, 4),
        Pipeline("alternating least squares and looks", "good", factors_and_looks, 4),
        Pipeline("taste", "good", taste, 4),
        Pipeline("trend of the plot and habits", "good", plot_and_habits, 5),
        Pipeline("taste and habits", "good", taste_and_habits, 6),
        Pipeline("linear ranker", "expert", linear_ranker, 5),
        Pipeline("boosted ranker", "expert", boosted_ranker, 4),
        Pipeline("blend of rankers", "expert", blend, 4),
    ),
    defaults=(
        Pipeline("NearestNeighbors()", "plain", default_neighbours, 0),
        Pipeline("TruncatedSVD()", "plain", default_factors, 0),
        Pipeline("most ordered", "plain", default_popular, 0),
    ),
)
