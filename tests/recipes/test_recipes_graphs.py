"""Recipes for nodes of a graph."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recipe_scripts import profile_of, recipe_for, run_recipe

from podium.metrics import accuracy, rmse
from podium.recipes.kit.inputs.graph_neighbours import (
    Edges,
    edge_factors,
    infer_classes,
    neighbour_label_means,
    propagate_beliefs,
)


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pd.DataFrame]:
    """Papers that mostly cite papers of their own field, and words that hardly tell the field."""
    public, rng = tmp_path_factory.mktemp("papers"), np.random.default_rng(0)
    count = 400
    field = rng.integers(0, 3, count)
    words = rng.normal(size=(count, 4)) + 0.4 * np.eye(3, 4)[field]
    nodes = pd.DataFrame(words, columns=["a", "b", "c", "d"]).assign(paper=rng.permutation(9000)[:count], field=field)
    nodes["field"] = nodes["field"].map({0: "art", 1: "law", 2: "zoology"})
    nodes["cites"] = rng.poisson(3, count)
    sources = rng.integers(0, count, 4 * count)
    same = [rng.choice(np.flatnonzero(field == field[one])) for one in sources]
    targets = np.where(rng.random(len(sources)) < 0.8, same, rng.integers(0, count, len(sources)))
    names = nodes["paper"].to_numpy()
    pd.DataFrame({"citing": names[sources], "cited": names[targets]}).to_csv(public / "citations.csv", index=False)
    known = nodes[["paper", "a", "b", "c", "d", "field"]]
    known[:150].to_csv(public / "train.csv", index=False)
    known[150:].drop(columns="field").to_csv(public / "test.csv", index=False)
    known[150:][["paper"]].assign(field="art").to_csv(public / "sample_submission.csv", index=False)
    return public, known[150:].reset_index(drop=True)


def test_edges_are_used_where_features_say_little(
    papers: tuple[Path, pd.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, answers = papers
    profile = profile_of(public, accuracy, ids=("paper",), targets=("field",))
    assert profile.modality == "graph"
    outcome = run_recipe(recipe_for(profile, "quick belief propagation"), profile, public, tmp_path, monkeypatch)
    assert list(outcome.submission["paper"]) == list(answers["paper"])
    found = (outcome.submission["field"] == answers["field"]).mean()
    assert found > 0.85
    assert abs(found - outcome.metric) < 0.1


def test_edges_that_lack_an_end_do_no_harm(
    papers: tuple[Path, pd.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, answers = papers
    data = tmp_path / "data"
    shutil.copytree(public, data)
    paper = answers["paper"][0]
    with (data / "citations.csv").open("a", encoding="utf-8") as citations:
        citations.write(f"{paper},\n,{paper}\n")
    profile = profile_of(data, accuracy, ids=("paper",), targets=("field",))
    recipe = recipe_for(profile, "quick belief propagation")
    outcome = run_recipe(recipe, profile, data, tmp_path / "work", monkeypatch)
    assert (outcome.submission["field"] == answers["field"]).mean() > 0.85


def test_classes_are_learnt_from_neighbour_means(
    papers: tuple[Path, pd.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, answers = papers
    profile = profile_of(public, accuracy, ids=("paper",), targets=("field",))
    recipe = recipe_for(profile, "neighbour means")
    outcome = run_recipe(recipe, profile, public, tmp_path, monkeypatch, {"model": "linear", "folds": 3})
    assert (outcome.submission["field"] == answers["field"]).mean() > 0.8


def test_numbers_of_nodes_are_learnt_too(
    papers: tuple[Path, pd.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, answers = papers
    values = {"art": 1.0, "law": 5.0, "zoology": 9.0}
    for name in ("train", "sample_submission"):
        table = pd.read_csv(public / f"{name}.csv")
        (tmp_path / "data").mkdir(exist_ok=True)
        table.assign(place=table.pop("field").map(values)).to_csv(tmp_path / "data" / f"{name}.csv", index=False)
    for name in ("test.csv", "citations.csv"):
        (tmp_path / "data" / name).write_bytes((public / name).read_bytes())
    profile = profile_of(tmp_path / "data", rmse, ids=("paper",), targets=("place",))
    recipe = recipe_for(profile, "neighbour means")
    settings = {"model": "linear", "folds": 3, "hops": 1}
    outcome = run_recipe(recipe, profile, tmp_path / "data", tmp_path / "work", monkeypatch, settings)
    truth = answers["field"].map(values)
    assert np.sqrt(((outcome.submission["place"] - truth) ** 2).mean()) < 0.7 * truth.std()


def test_beliefs_on_a_tree_are_exact() -> None:
    edges = Edges(np.array([0, 1]), np.array([1, 2]), np.array([0, 0]), 3)
    alone = np.array([[0.9, 0.1], [0.5, 0.5], [0.3, 0.7]])
    factor = np.array([[2.0, 0.5], [0.4, 1.5]])
    joint = np.einsum("a,b,c,ab,bc->abc", *alone, factor, factor)
    exact = np.array([joint.sum(axis=(1, 2)), joint.sum(axis=(0, 2)), joint.sum(axis=(0, 1))])
    found = propagate_beliefs(alone, edges, [factor], passes=60)
    np.testing.assert_allclose(found, exact / exact.sum(axis=1, keepdims=True), atol=1e-4)


def test_edges_between_different_classes_are_learnt() -> None:
    rng = np.random.default_rng(0)
    kinds = np.arange(60) % 2
    source = rng.integers(0, 60, 400)
    target = np.array([rng.choice(np.flatnonzero(kinds != kinds[one])) for one in source])
    edges = Edges(source, target, np.zeros(400, int), 60)
    labels = np.where(np.arange(60) < 20, kinds, -1)
    found = infer_classes(
        np.zeros((60, 1)), labels, edges, lambda features, y, seed: lambda values: np.full(60, 0.5), rounds=2
    )
    assert (found.argmax(axis=1) == kinds).mean() > 0.95
    assert edge_factors(edges, np.eye(2)[kinds])[0][0, 0] < 0.2


def test_a_node_never_sees_its_own_label() -> None:
    rng = np.random.default_rng(1)
    edges = Edges(rng.integers(0, 30, 120), rng.integers(0, 30, 120), rng.integers(0, 2, 120), 30)
    keep = edges.source != edges.target
    edges = Edges(edges.source[keep], edges.target[keep], edges.kind[keep], 30)
    truth, known = rng.integers(0, 3, 30), np.arange(20)
    changed = truth.copy()
    changed[5] = (changed[5] + 1) % 3
    before, after = (neighbour_label_means(labels, known, edges) for labels in (truth, changed))
    # Only the overall mean, which every node is compared with, may let a node know.
    assert np.abs(before - after)[5].max() < 0.1
    assert np.abs(before - after).max() > 0.1
