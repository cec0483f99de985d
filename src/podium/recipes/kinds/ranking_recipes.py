"""Recipes for lists of items: what users will choose next, learnt from a log of events."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from podium.recipes.recipe import Improvement, Recipe, Settings
from podium.recipes.script_writer import assign, keywords
from podium.tables.profile import ColumnProfile, Profile, TableProfile

METRICS = ("map_at_k", "ndcg_at_k")
MAX_KINDS = 8
"""Largest number of values of a log column that is used as the kind of event."""
WINDOW = 28
"""Days to predict if the brief does not state their number."""
CHECKED = 1000
"""Largest number of users for validation, independent of the time limit so that scores of a task are comparable."""
LEARNT_PER_SECOND = 100
"""Largest number of training users per window for each second of a script's time."""
NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
DAYS = {"day": 1, "week": 7, "fortnight": 14, "month": 28}
_SPAN = re.compile(rf"\b(\d+|{'|'.join(NUMBERS)}|next|following|coming)[ -](day|week|fortnight|month)s?\b")
_REQUEST = re.compile(r"\b(predict|foretell|forecast|recommend|suggest|which|what will)", re.IGNORECASE)


@dataclass(frozen=True)
class LogColumns:
    """Which tables and columns hold users, items and events."""

    log: TableProfile
    user: str
    item: str
    time: str
    kind: str | None
    users: str | None
    """The file with more columns about users."""
    items: str | None
    """The file with more columns about items."""


def suits(profile: Profile) -> bool:
    """Return whether lists of items are predicted for users whose events are in a log with dates."""
    return len(profile.targets) == 1 and profile.metric in METRICS and find_log(profile) is not None


def find_log(profile: Profile) -> LogColumns | None:
    """The log of events between users and items, and the tables about both; None if there is none."""
    if len(profile.ids) != 1:
        return None
    user = profile.ids[0]
    logs = [table for table in profile.tables if user in table and table[user].distinct < 0.7 * table.rows]
    for log in sorted(logs, key=lambda table: -table.rows):
        dates = [column.name for column in log.columns if column.kind == "date"]
        item = _item_column(profile, log, user)
        if not dates or item is None:
            continue
        kinds = [
            column.name for column in log.columns if column.kind == "category" and 1 < column.distinct <= MAX_KINDS
        ]
        kinds = [name for name in kinds if name not in (user, item)]
        kind = kinds[0] if kinds else None
        return LogColumns(log, user, item, dates[0], kind, _table_of(profile, user), _table_of(profile, item))
    return None


def _item_column(profile: Profile, log: TableProfile, user: str) -> str | None:
    """The log's column with items: one that has a table of its own, or else the one with most values."""
    columns = [column for column in log.columns if column.name != user and _is_id(column, log)]
    described = [column for column in columns if _table_of(profile, column.name) is not None]
    best = max(described or columns, key=lambda column: column.distinct, default=None)
    return None if best is None else best.name


def _is_id(column: ColumnProfile, log: TableProfile) -> bool:
    is_id = column.kind == "category" or (column.kind == "number" and column.is_whole)
    return is_id and column.distinct > MAX_KINDS and column.distinct < 0.7 * log.rows


def _table_of(profile: Profile, key: str) -> str | None:
    """The file with one row for each value of a column, and more columns."""
    found = [
        table for table in profile.tables if key in table and len(table.columns) > 1 and table.file != profile.sample
    ]
    return next((table.file for table in found if table[key].distinct >= 0.99 * table.rows), None)


def goal_sentence(brief: str) -> str:
    """The sentence of a brief that says what is to be predicted; empty if none does."""
    plain = re.sub(r"\s+", " ", brief)
    sentences = [one for one in re.split(r"(?<=[.!?]) ", plain) if _REQUEST.search(one)]
    return min(sentences, key=lambda one: (_SPAN.search(one.lower()) is None, sentences.index(one)), default="")


def forecast_days(brief: str) -> int:
    """Return the number of days to predict according to the brief."""
    found = _SPAN.search(goal_sentence(brief).lower()) or _SPAN.search(brief.lower())
    if found is None:
        return WINDOW
    number = int(found[1]) if found[1].isdigit() else NUMBERS.index(found[1]) + 1 if found[1] in NUMBERS else 1
    return min(number * DAYS[found[2]], 92)


def log_source(profile: Profile) -> str:
    """The start of a body: the log, the users to predict for, and the last window, for validation."""
    found = find_log(profile)
    assert found is not None
    given = assign(SAMPLE=profile.sample, IDS=profile.ids, TARGET=profile.targets[0], LOG=found.log.file)
    given += assign(USER=found.user, ITEM=found.item, TIME=found.time, KIND=found.kind)
    given += assign(GOAL=goal_sentence(profile.brief))
    given += assign(WINDOW=forecast_days(profile.brief), COUNT=int(profile.metric_options.get("k", 10)))
    return f"""{given}
sample = read_sample(SAMPLE)
log = read_log(LOG, USER, ITEM, TIME, KIND, GOAL, sample[IDS[0]])
test_users = log.users.get_indexer(sample[IDS[0]])
end = log.day.max() + 1
last = end - WINDOW * (1 + SPLIT)
true = events_in_window(log, last, WINDOW)
checked = np.random.default_rng(SEED).permutation(np.flatnonzero(true.getnnz(axis=1)))[:{CHECKED}]
"""


def finishing_source(profile: Profile) -> str:
    """The end of a body, after `checked_lists` and `lists` were made."""
    return f"""
chosen = [set(true[user].indices) for user in checked]
score = {profile.metric}(chosen, [list(checked_lists[user]) for user in checked], COUNT)
values = [" ".join(log.items[lists[user]]) for user in test_users]
write_submission(sample, IDS, None, {{TARGET: values}})
print(f"podium-metric: {{score:.6f}}")"""


def popular_body(profile: Profile, settings: Settings) -> str:
    """Lists without any learning."""
    return f"""{log_source(profile)}
checked_lists = recent_and_popular_items(log, checked, last, WINDOW, COUNT)
lists = recent_and_popular_items(log, test_users, end, WINDOW, COUNT)
{finishing_source(profile)}"""


def boosted_body(profile: Profile, settings: Settings) -> str:
    """Lists by the probability that a user chooses an item."""
    found = find_log(profile)
    assert found is not None
    return f"""{log_source(profile)}
of_users = read_traits({found.users!r}, USER, log.users)
of_items = read_traits({found.items!r}, ITEM, log.items)


def learn_before(day):
    \"\"\"The probability of pairs of users and items, learnt from windows that ended by a day.\"\"\"
    starts = [day - WINDOW * (1 + back) for back in range({settings["windows"]}) if day - WINDOW * (2 + back) >= 0]
    most = int(min({settings["users"]}, {LEARNT_PER_SECOND} * TIME_S))
    features, truth = training_pairs(log, starts, WINDOW, of_users, of_items, others={settings["others"]}, most=most)
    print("learning from", features.shape, "after", round(time_used(), 2), "of the time", flush=True)
    names = [name for name in features if features[name].nunique() > 1]
    models = [
        HistGradientBoostingClassifier(early_stopping=False, random_state=SEED + number{keywords(settings["model"])})
        for number in range({settings["seeds"]})
    ]
    models = [model.fit(features[names].to_numpy(), truth) for model in models]

    def probability(features):
        values = features.reindex(columns=names).to_numpy()
        return np.mean([model.predict_proba(values)[:, 1] for model in models], axis=0)

    return probability


checked_lists = recent_and_popular_items(log, checked, last, WINDOW, COUNT)
learnt = learn_before(last)
checked_lists |= best_items_by_score(log, checked, last, WINDOW, of_users, of_items, learnt, COUNT)
if time_used() < 0.4:  # or else what was learnt without the last window has to do
    learnt = learn_before(end)
lists = recent_and_popular_items(log, test_users, end, WINDOW, COUNT)
lists |= best_items_by_score(log, test_users, end, WINDOW, of_users, of_items, learnt, COUNT)
{finishing_source(profile)}"""


def _improvements(profile: Profile, settings: Settings) -> Sequence[Improvement]:
    model = settings["model"]
    slower = {"learning_rate": model["learning_rate"] / 2, "max_iter": 2 * model["max_iter"]}
    return [
        Improvement("learn from more windows", {"windows": 2 * settings["windows"]}),
        Improvement("use a lower learning rate and more trees", {"model": {**model, **slower}}),
        Improvement("average models with other seeds", {"seeds": settings["seeds"] + 2}),
        Improvement("learn from more pairs that did not occur", {"others": 2 * settings["others"]}),
        Improvement("grow larger trees", {"model": {**model, "max_leaf_nodes": 2 * model["max_leaf_nodes"]}}),
    ]


RECIPES = (
    Recipe(
        name="recent and popular items",
        title="What each user chose recently, and then what was popular.",
        suits=suits,
        body=popular_body,
        can_merge=False,
    ),
    Recipe(
        name="boosted ranking",
        title="The probability that a user chooses an item next, by gradient boosting on the history of both.",
        suits=suits,
        body=boosted_body,
        defaults=lambda profile: {
            "windows": 2,
            "others": 20,
            "users": 3000,
            "seeds": 1,
            "model": {
                "learning_rate": 0.1,
                "max_iter": 80,
                "max_leaf_nodes": 16,
                "min_samples_leaf": 50,
                "max_features": 0.5,
            },
        },
        improvements=_improvements,
        simpler=lambda profile, settings: {**settings, "windows": 1, "others": 5, "users": 1000},
        can_merge=False,
        time_share=0.5,
    ),
)
