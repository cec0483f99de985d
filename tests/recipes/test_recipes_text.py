"""Recipes for texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recipe_scripts import profile_of, recipe_for, run_recipe

from podium.metrics import log_loss, rmse, roc_auc
from podium.recipes.kit.inputs.text_terms import split_sentences, without_quotes
from podium.recipes.recipe import recipes_for

TOPICS = {
    "cooking": ["flour", "oven", "butter", "recipe", "simmer", "garlic", "onion", "plate", "spoon", "kettle"],
    "sailing": ["harbour", "anchor", "wind", "sail", "rudder", "tide", "deck", "mast", "rope", "buoy"],
    "chess": ["pawn", "rook", "bishop", "castle", "opening", "gambit", "knight", "endgame", "tempo", "queen"],
}
FILLERS = ["the", "a", "was", "very", "quite", "today", "after", "before", "under", "with", "some", "other", "people"]


def letters(count: int, seed: int) -> pd.DataFrame:
    """Letters of which some words tell the topic and one, the mood; a third of the words of a topic come by chance."""
    rng = np.random.default_rng(seed)
    names = list(TOPICS)
    rows = []
    for number in range(count):
        topic, mood = int(rng.integers(3)), bool(rng.integers(2))
        sentences = []
        for _ in range(int(rng.integers(2, 5))):
            chosen = names[topic if rng.random() < 0.67 else int(rng.integers(3))]
            words = [*rng.choice(FILLERS, 5), rng.choice(TOPICS[chosen])]
            sentences.append(" ".join(rng.permutation(words)).capitalize() + ".")
        sentences.append("It was a delight." if mood else "It was not a delight.")
        text = " ".join(rng.permutation(sentences))
        rows.append({"letter": 7000 + number, "text": text, "about": names[topic], "glad": int(mood)})
    return pd.DataFrame(rows)


def public_folder(folder: Path, labels: dict[str, str | float]) -> tuple[Path, pd.DataFrame]:
    """A public folder in which some labels are to be predicted, and the answers."""
    folder.mkdir()
    table = letters(450, seed=1)
    table["tone"] = table["glad"] * 3.0 + table["about"].map({"cooking": 0.0, "sailing": 5.0, "chess": 9.0})
    for name in TOPICS:
        table[f"is_{name}"] = (table["about"] == name).astype(int)
    truths = [name for name in labels if name in table] or ["about"]
    table[["letter", "text", *truths]][:300].to_csv(folder / "train.csv", index=False)
    table[["letter", "text"]][300:].to_csv(folder / "test.csv", index=False)
    table[["letter"]][300:].assign(**labels).to_csv(folder / "sample_submission.csv", index=False)
    return folder, table[300:].reset_index(drop=True)


@pytest.mark.parametrize(
    "name", ["quick words", "words and characters", "word pairs", "word count ratios", "sentence network"]
)
def test_topics_are_classified_by_words(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    public, answers = public_folder(tmp_path / "data", dict.fromkeys(TOPICS, 1 / 3))
    profile = profile_of(public, log_loss, ids=("letter",), targets=tuple(TOPICS))
    assert (profile.modality, profile.goal) == ("text", "multiclass")
    outcome = run_recipe(recipe_for(profile, name), profile, public, tmp_path / "work", monkeypatch, {"folds": 3})
    assert list(outcome.submission["letter"]) == list(answers["letter"])
    probabilities = outcome.submission[list(TOPICS)].to_numpy()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    indices = answers["about"].map({name: index for index, name in enumerate(TOPICS)}).to_numpy()
    loss = -np.log(probabilities[np.arange(len(indices)), indices]).mean()
    assert loss < 0.75 * np.log(3)
    assert abs(loss - outcome.metric) < 0.2


@pytest.mark.parametrize("name", ["word pairs", "sentence network", "text boosting"])
def test_one_label_is_learnt(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    public, answers = public_folder(tmp_path / "data", {"glad": 0.5})
    profile = profile_of(public, roc_auc, ids=("letter",), targets=("glad",))
    assert (profile.modality, profile.goal) == ("text", "binary")
    outcome = run_recipe(recipe_for(profile, name), profile, public, tmp_path / "work", monkeypatch, {"folds": 3})
    glad, sad = (outcome.submission["glad"][answers["glad"] == value] for value in (1, 0))
    assert (glad.to_numpy()[:, None] > sad.to_numpy()).mean() > 0.9


@pytest.mark.parametrize("name", ["quick words", "sentence network", "text boosting"])
def test_several_labels_are_learnt(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = {f"is_{name}": 0.5 for name in TOPICS}
    public, answers = public_folder(tmp_path / "data", dict(labels))
    profile = profile_of(public, roc_auc, ids=("letter",), targets=tuple(labels))
    assert profile.goal == "multilabel"
    outcome = run_recipe(recipe_for(profile, name), profile, public, tmp_path / "work", monkeypatch, {"folds": 2})
    prediction = outcome.submission[list(labels)].to_numpy().argmax(axis=1)
    assert (prediction == answers[list(labels)].to_numpy().argmax(axis=1)).mean() > 0.6


@pytest.mark.parametrize("name", ["quick words", "sentence network"])
def test_a_number_is_learnt(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    public, answers = public_folder(tmp_path / "data", {"tone": 0.0})
    profile = profile_of(public, rmse, ids=("letter",), targets=("tone",))
    assert profile.goal == "regression"
    outcome = run_recipe(recipe_for(profile, name), profile, public, tmp_path / "work", monkeypatch, {"folds": 3})
    error = np.sqrt(((outcome.submission["tone"] - answers["tone"]) ** 2).mean())
    assert error < 0.85 * answers["tone"].std()


def test_several_texts_a_date_and_missing_values_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    public, answers = public_folder(tmp_path / "data", {"glad": 0.5})
    for file in ("train.csv", "test.csv"):
        table = pd.read_csv(public / file)
        table["sent"] = pd.date_range("2020-01-01", periods=len(table)).astype(str)
        table["heading"] = np.where(np.arange(len(table)) % 7 == 0, None, table["text"].str[::-1])
        table["length"] = np.where(np.arange(len(table)) % 5 == 0, np.nan, table["text"].str.len())
        table.to_csv(public / file, index=False)
    profile = profile_of(public, roc_auc, ids=("letter",), targets=("glad",))
    assert profile.of_kind("text") == ["text", "heading"]
    recipe = recipe_for(profile, "word pairs")
    outcome = run_recipe(recipe, profile, public, tmp_path / "work", monkeypatch, {"folds": 2})
    assert len(outcome.submission) == len(answers)
    assert outcome.metric > 0.8


def test_recipes_for_tables_need_more_than_a_text(tmp_path: Path) -> None:
    public, _ = public_folder(tmp_path / "data", {"glad": 0.5})
    profile = profile_of(public, roc_auc, ids=("letter",), targets=("glad",))
    assert "quick boosting" not in {recipe.name for recipe in recipes_for(profile)}
    for file in ("train.csv", "test.csv"):
        pd.read_csv(public / file).assign(length=lambda table: table["text"].str.len()).to_csv(
            public / file, index=False
        )
    profile = profile_of(public, roc_auc, ids=("letter",), targets=("glad",))
    assert "quick boosting" in {recipe.name for recipe in recipes_for(profile)}


def test_with_little_time_fewer_texts_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    public, answers = public_folder(tmp_path / "data", {"glad": 0.5})
    monkeypatch.setattr("podium.recipes.kinds.text_recipes.SPEEDS", {"words": 40})
    profile = profile_of(public, roc_auc, ids=("letter",), targets=("glad",))
    outcome = run_recipe(recipe_for(profile, "quick words"), profile, public, tmp_path / "work", monkeypatch)
    assert "of 300 texts" in outcome.output and "learning from 300" not in outcome.output
    assert outcome.submission["glad"].between(0, 1).all() and len(outcome.submission) == len(answers)


def test_quotes_are_dropped_unless_there_is_nothing_else() -> None:
    assert without_quotes("mine\n> theirs\nmine too") == "mine\nmine too"
    assert without_quotes("> theirs\n > theirs too") == "> theirs\n > theirs too"


def test_sentences_end_at_stops_and_long_ones_are_cut() -> None:
    assert split_sentences("One, two. Three!") == [["one", ",", "two", "."], ["three", "!"]]
    assert [len(words) for words in split_sentences("word " * 30)] == [14, 14, 2]
