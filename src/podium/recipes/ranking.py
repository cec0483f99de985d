"""Recipes for lists of items: what users will want next, learnt from a log of what they did before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from podium.recipes.profile import Column, Profile, Table
from podium.recipes.recipe import Move, Recipe, Settings
from podium.recipes.scripts import assign

METRICS = ("map_at_k", "ndcg_at_k")
KINDS = 8
"""A column of the log with at most so many values says what kind of event it is."""
WINDOW = 28
"""Days to be foretold, where the brief does not say how many."""
NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
DAYS = {"day": 1, "week": 7, "fortnight": 14, "month": 28}
_SPAN = re.compile(rf"\b(\d+|{'|'.join(NUMBERS)}|next|following|coming)[ -](day|week|fortnight|month)s?\b")
_ASKS = re.compile(r"\b(predict|foretell|forecast|recommend|suggest|which|what will)", re.IGNORECASE)


@dataclass(frozen=True)
class Shop:
    """Where in the tables users, items and events are."""

    log: Table
    user: str
    item: str
    time: str
    kind: str | None
    users: str | None
    """The file that says more about users."""
    items: str | None


def suits(profile: Profile) -> bool:
    """Whether lists of items are asked for, for users whose deeds are in a log with dates."""
    return len(profile.targets) == 1 and profile.metric in METRICS and find_shop(profile) is not None


def find_shop(profile: Profile) -> Shop | None:
    """The log of what users did with items, and the tables that say more about both; None if there is no such log."""
    if len(profile.ids) != 1:
        return None
    user = profile.ids[0]
    logs = [table for table in profile.tables if user in table and table[user].distinct < 0.7 * table.rows]
    for log in sorted(logs, key=lambda table: -table.rows):
        dates = [column.name for column in log.columns if column.kind == "date"]
        item = _item(profile, log, user)
        if not dates or item is None:
            continue
        kinds = [column.name for column in log.columns if column.kind == "category" and 1 < column.distinct <= KINDS]
        kinds = [name for name in kinds if name not in (user, item)]
        kind = kinds[0] if kinds else None
        return Shop(log, user, item, dates[0], kind, _about(profile, user), _about(profile, item))
    return None


def _item(profile: Profile, log: Table, user: str) -> str | None:
    """The log's column with items: one that another table tells more about, or else that with most values."""
    columns = [column for column in log.columns if column.name != user and _is_name(column, log)]
    told = [column for column in columns if _about(profile, column.name) is not None]
    best = max(told or columns, key=lambda column: column.distinct, default=None)
    return None if best is None else best.name


def _is_name(column: Column, log: Table) -> bool:
    is_name = column.kind == "category" or (column.kind == "number" and column.is_whole)
    return is_name and column.distinct > KINDS and column.distinct < 0.7 * log.rows


def _about(profile: Profile, key: str) -> str | None:
    """The file with one row for each value of a column, and more columns."""
    found = [
        table for table in profile.tables if key in table and len(table.columns) > 1 and table.file != profile.sample
    ]
    return next((table.file for table in found if table[key].distinct >= 0.99 * table.rows), None)


def asked_for(brief: str) -> str:
    """The sentence of a brief that says what is to be predicted; empty if none does."""
    plain = re.sub(r"\s+", " ", brief)
    sentences = [one for one in re.split(r"(?<=[.!?]) ", plain) if _ASKS.search(one)]
    return min(sentences, key=lambda one: (_SPAN.search(one.lower()) is None, sentences.index(one)), default="")


def window_days(brief: str) -> int:
    """How many days are to be foretold, as the brief has it."""
    found = _SPAN.search(asked_for(brief).lower()) or _SPAN.search(brief.lower())
    if found is None:
        return WINDOW
    number = int(found[1]) if found[1].isdigit() else NUMBERS.index(found[1]) + 1 if found[1] in NUMBERS else 1
    return min(number * DAYS[found[2]], 92)


def start(profile: Profile) -> str:
    """The start of a story: the log, the users to predict for, and the last window, by which lists are judged."""
    shop = find_shop(profile)
    assert shop is not None
    given = assign(SAMPLE=profile.sample, IDS=profile.ids, TARGET=profile.targets[0], LOG=shop.log.file)
    given += assign(USER=shop.user, ITEM=shop.item, TIME=shop.time, KIND=shop.kind, GOAL=asked_for(profile.brief))
    given += assign(WINDOW=window_days(profile.brief), COUNT=int(profile.metric_options.get("k", 10)))
    return (
        given
        + """
sample = read_sample(SAMPLE)
log = read_log(LOG, USER, ITEM, TIME, KIND, GOAL, sample[IDS[0]])
asked = log.users.get_indexer(sample[IDS[0]])
end = log.day.max() + 1
last = end - WINDOW * (1 + SPLIT)
true = came_true(log, last, WINDOW)
judged = np.random.default_rng(SEED).permutation(np.flatnonzero(true.getnnz(axis=1)))[:5000]
"""
    )


def finish(profile: Profile) -> str:
    """The end of a story that has made `judged_lists` and `lists`."""
    return f"""
wanted = [set(true[user].indices) for user in judged]
score = {profile.metric}(wanted, [list(judged_lists[user]) for user in judged], COUNT)
values = [" ".join(log.items[lists[user]]) for user in asked]
write_submission(sample, IDS, None, {{TARGET: values}})
print(f"podium-metric: {{score:.6f}}")"""


def usual_story(profile: Profile, settings: Settings) -> str:
    """Lists without any learning."""
    return f"""{start(profile)}
judged_lists = usual_items(log, judged, last, WINDOW, COUNT)
lists = usual_items(log, asked, end, WINDOW, COUNT)
{finish(profile)}"""


def learnt_story(profile: Profile, settings: Settings) -> str:
    """Lists by the chance that a user wants an item."""
    shop = find_shop(profile)
    assert shop is not None
    options = ", ".join(f"{name}={value!r}" for name, value in settings["model"].items())
    return f"""{start(profile)}
of_users = read_traits({shop.users!r}, USER, log.users)
of_items = read_traits({shop.items!r}, ITEM, log.items)


def learnt_before(day):
    \"\"\"How good pairs of users and items are, learnt from windows that ended by a day.\"\"\"
    starts = [day - WINDOW * (1 + back) for back in range({settings["windows"]}) if day - WINDOW * (2 + back) >= 0]
    features, truth = training_pairs(
        log, starts, WINDOW, of_users, of_items, others={settings["others"]}, most={settings["users"]}
    )
    print("learning from", features.shape, "after", round(time_used(), 2), "of the time", flush=True)
    names = [name for name in features if features[name].nunique() > 1]
    models = [
        HistGradientBoostingClassifier(early_stopping=False, random_state=SEED + number, {options})
        for number in range({settings["seeds"]})
    ]
    models = [model.fit(features[names].to_numpy(), truth) for model in models]

    def chance(features):
        values = features.reindex(columns=names).to_numpy()
        return np.mean([model.predict_proba(values)[:, 1] for model in models], axis=0)

    return chance


judged_lists = usual_items(log, judged, last, WINDOW, COUNT)
judged_lists |= scored_pairs(log, judged, last, WINDOW, of_users, of_items, learnt_before(last), COUNT)
lists = usual_items(log, asked, end, WINDOW, COUNT)
lists |= scored_pairs(log, asked, end, WINDOW, of_users, of_items, learnt_before(end), COUNT)
{finish(profile)}"""


def _moves(profile: Profile, settings: Settings) -> Sequence[Move]:
    model = settings["model"]
    slower = {"learning_rate": model["learning_rate"] / 2, "max_iter": 2 * model["max_iter"]}
    return [
        Move("learn from more windows", {"windows": 2 * settings["windows"]}),
        Move("learn more slowly, for longer", {"model": {**model, **slower}}),
        Move("average models made with other chances", {"seeds": settings["seeds"] + 2}),
        Move("learn from more pairs that did not come true", {"others": 2 * settings["others"]}),
        Move("grow larger trees", {"model": {**model, "max_leaf_nodes": 2 * model["max_leaf_nodes"]}}),
    ]


RECIPES = (
    Recipe(
        name="usual items",
        title="What each user had of late, and then what was popular.",
        suits=suits,
        story=usual_story,
        can_merge=False,
    ),
    Recipe(
        name="learnt items",
        title="The chance that a user wants an item next, by gradient boosting on what both did before.",
        suits=suits,
        story=learnt_story,
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
        moves=_moves,
        simpler=lambda profile, settings: {**settings, "windows": 1, "others": 5, "users": 1000},
        can_merge=False,
        share=0.5,
    ),
)
