"""Recipes for lists of items."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recipe_scripts import profile_of, recipe_for, run_recipe

from podium.metrics import map_at_k, ndcg_at_k
from podium.recipes.kinds.ranking_recipes import find_log, forecast_days, goal_sentence
from podium.recipes.kit.inputs.item_ranking import Log, Traits, best_items, best_items_by_score, target_event_kinds
from podium.recipes.recipe import recipes_for
from podium.tables import script_settings

WEEKS = 12
BRIEF = "Readers borrow books. Predict which books each reader will borrow in the next week. Visits are logged too."


def library(folder: Path, *, kinds: bool = True) -> dict[str, set[str]]:
    """Readers who like one genre and borrow by preference what they have browsed; gives what they borrow next."""
    rng = np.random.default_rng(3)
    books = pd.DataFrame({"book": [f"0{100 + number}" for number in range(40)], "genre": np.arange(40) % 4})
    readers = pd.DataFrame({"reader": [f"R{number}" for number in range(150)], "age": rng.integers(10, 80, 150)})
    liked = rng.integers(0, 4, 150)
    events, answers = [], {}
    for week in range(1, WEEKS + 1):
        for number, reader in enumerate(readers["reader"]):
            shelf = books["book"][books["genre"] == liked[number]]
            chosen = rng.choice(shelf if rng.random() < 0.8 else books["book"], 2, replace=False)
            monday = pd.Timestamp("2024-01-01") + pd.Timedelta(days=7 * week)
            events.append((reader, chosen[0], monday - pd.Timedelta(days=1 + int(rng.integers(7))), "browsed"))
            if week == WEEKS:
                answers[reader] = set(chosen)
            else:
                events += [
                    (reader, book, monday + pd.Timedelta(days=int(rng.integers(7))), "borrowed") for book in chosen
                ]
    log = pd.DataFrame(events, columns=["reader", "book", "day", "kind"])
    log["day"] = log["day"].dt.date
    folder.mkdir()
    (log if kinds else log[log["kind"] == "borrowed"].drop(columns="kind")).to_csv(folder / "log.csv", index=False)
    books.assign(genre=books["genre"].map({0: "crime", 1: "poems", 2: "travel", 3: "maths"})).to_csv(
        folder / "books.csv", index=False
    )
    readers.to_csv(folder / "readers.csv", index=False)
    common = " ".join(books["book"][:5])
    pd.DataFrame({"reader": readers["reader"], "books": common}).to_csv(folder / "sample_submission.csv", index=False)
    return answers


def score(submission: pd.DataFrame, answers: dict[str, set[str]]) -> float:
    listed = submission["books"].astype(str).str.split()
    truth = [" ".join(sorted(answers[reader])) for reader in submission["reader"]]
    return float(ndcg_at_k.using(k=5)(truth, [" ".join(items) for items in listed]))


@pytest.mark.parametrize("kinds", [True, False])
def test_lists_beat_popular_items(kinds: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    public = tmp_path / "data"
    answers = library(public, kinds=kinds)
    profile = profile_of(public, ndcg_at_k.using(k=5), ids=("reader",), targets=("books",), brief=BRIEF)
    assert profile.modality == "ranking"
    found_log = find_log(profile)
    assert found_log is not None
    assert (found_log.log.file, found_log.item, found_log.time) == ("log.csv", "book", "day")
    assert (found_log.users, found_log.items, found_log.kind) == ("readers.csv", "books.csv", "kind" if kinds else None)
    found = {}
    for name in ("recent and popular items", "boosted ranking"):
        outcome = run_recipe(recipe_for(profile, name), profile, public, tmp_path / name, monkeypatch)
        lists = outcome.submission["books"].astype(str).str.split()
        assert list(outcome.submission["reader"]) == list(answers)
        assert lists.map(len).max() <= 5 and lists.map(lambda items: len(set(items)) == len(items)).all()
        assert lists.map(lambda items: all(item.startswith("0") for item in items)).all(), "ids lost their zeros"
        found[name] = score(outcome.submission, answers)
    popular = score(pd.read_csv(public / "sample_submission.csv", dtype=str), answers)
    assert found["recent and popular items"] > popular + 0.03
    assert found["boosted ranking"] > popular + 0.1
    if kinds:
        assert found["boosted ranking"] > found["recent and popular items"]


def test_scripts_are_validated_on_the_same_users_however_much_time_they_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = tmp_path / "data"
    library(public)
    profile = profile_of(public, ndcg_at_k.using(k=5), ids=("reader",), targets=("books",), brief=BRIEF)
    recipe = recipe_for(profile, "recent and popular items")
    short, long = (
        run_recipe(recipe, profile, public, tmp_path / f"{time_s}", monkeypatch, time_s=time_s) for time_s in (1, 600)
    )
    assert short.metric == long.metric


def test_where_time_is_over_lists_are_what_is_popular(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    public = tmp_path / "data"
    library(public)
    profile = profile_of(public, ndcg_at_k.using(k=5), ids=("reader",), targets=("books",), brief=BRIEF)
    popular, late = (
        run_recipe(recipe_for(profile, name), profile, public, tmp_path / name, monkeypatch, time_s=time_s)
        for name, time_s in {"recent and popular items": 600, "boosted ranking": 0.03}.items()
    )
    assert late.submission.equals(popular.submission)
    assert late.metric == popular.metric


def test_a_log_with_a_year_of_history_for_some_windows_only_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = library(tmp_path / "data")
    log = pd.read_csv(tmp_path / "data" / "log.csv", parse_dates=["day"], dtype={"book": str})
    early = log.iloc[:3].assign(day=log["day"].max() - pd.Timedelta(days=365))
    pd.concat([early, log]).to_csv(tmp_path / "data" / "log.csv", index=False)
    metric = ndcg_at_k.using(k=5)
    profile = profile_of(tmp_path / "data", metric, ids=("reader",), targets=("books",), brief=BRIEF)
    recipe = recipe_for(profile, "boosted ranking")
    outcome = run_recipe(recipe, profile, tmp_path / "data", tmp_path / "work", monkeypatch, {"windows": 1})
    assert score(outcome.submission, answers) > 0.3


def test_ranking_recipes_need_a_log(tmp_path: Path) -> None:
    library(tmp_path / "data")
    (tmp_path / "data" / "log.csv").unlink()
    profile = profile_of(tmp_path / "data", map_at_k.using(k=5), ids=("reader",), targets=("books",), brief=BRIEF)
    assert not {"recent and popular items", "boosted ranking"} & {recipe.name for recipe in recipes_for(profile)}


@pytest.mark.parametrize(
    ("brief", "days"),
    [
        ("Predict what they buy in the 7-day period after the log.", 7),
        ("Members order goods. Predict the goods of the four weeks from Monday on.", 28),
        ("The log has 17 months. Recommend goods for the next month.", 28),
        ("Predict the likeliest goods.", 28),
    ],
)
def test_the_window_is_read_from_the_brief(brief: str, days: int) -> None:
    assert forecast_days(brief) == days


def test_the_goal_is_the_sentence_that_says_what_to_predict() -> None:
    assert goal_sentence("A shop.\nPredict what\nthey order. The rest is told below.") == "Predict what they order."
    kinds = pd.Series(["looked", "looked", "looked", "ordered", "ordered", "returned"])
    assert target_event_kinds(kinds, "Predict what they order.") == ["ordered"]
    assert target_event_kinds(kinds, "Say something.") == ["returned"]


def test_best_items_are_sorted() -> None:
    users, items = np.array([4, 4, 4, 2, 2]), np.array([7, 8, 9, 7, 8])
    found = best_items(users, items, np.array([0.1, 0.9, 0.5, 0.2, 0.1]), 2)
    assert {user: list(listed) for user, listed in found.items()} == {4: [8, 9], 2: [7, 8]}


def lists_in_time(share_for_a_thousand: float) -> dict[int, np.ndarray]:
    """Lists for those of 7,000 users that there is time for, if each thousand takes a share of it."""
    numbers = np.arange(7000)
    log = Log(numbers, numbers % 3, numbers // 250, numbers >= 0, pd.RangeIndex(7000), pd.RangeIndex(3))
    of_users, of_items = (
        Traits(pd.DataFrame({"number": np.arange(float(count))}), pd.DataFrame(index=range(count)))
        for count in (7000, 3)
    )

    def score(features: pd.DataFrame) -> np.ndarray:
        script_settings.STARTED -= share_for_a_thousand * len(features) / 3000 * script_settings.TIME_S
        return np.arange(len(features)) % 3

    return best_items_by_score(log, numbers, 28, 7, of_users, of_items, score, 2)


def test_all_users_have_lists_where_there_is_time() -> None:
    lists = lists_in_time(0.05)
    assert list(lists) == list(range(7000))
    assert all(list(items) == [2, 1] for items in lists.values())


def test_no_lists_are_begun_that_would_not_be_done_in_time() -> None:
    assert list(lists_in_time(0.15)) == list(range(3000)), "0.45 have passed, 4,000 more would take 0.6"
    script_settings.STARTED -= 0.4 * script_settings.TIME_S
    assert not lists_in_time(0.0)
