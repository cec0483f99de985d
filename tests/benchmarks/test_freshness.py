"""What tuning on many forged tasks brings: it finds what is always true of them, and nothing where nothing is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from freshness import gain, long_sentences, outcome, plan, read, shares, tune
from recipe_trials import QUICK, RECIPES, Trial, try_all

from podium.catalog.forge.training import TrainingSeed


def known(**shares_of_way: float) -> list[Trial]:
    """Candidates that know their own worth; those with a name of one letter are defaults."""
    return [Trial(name, len(name) == 1, share, share, 0.1) for name, share in shares_of_way.items()]


def test_the_script_that_says_it_is_best_counts_and_a_failure_does_not() -> None:
    tried = [Trial("a", True, 0.9, 0.1, 0.1), Trial("b", True, 0.5, 0.6, 0.1), Trial("c", True, None, 0.9, 0.1)]
    assert outcome(tried, ["a", "b", "c"]) == 0.1
    assert outcome(tried, ["c"]) == 0.0


def test_tuning_takes_what_adds_most_to_what_is_tried_already() -> None:
    tasks = [known(a=0.6, b=0.5, c=0.0, d=0.1), known(a=0.6, b=0.5, c=0.9, d=0.1)]
    assert tune(tasks)[:2] == ["a", "c"]


def test_what_holds_on_all_tasks_is_learnt_and_shows_on_fresh_ones() -> None:
    tasks = [known(a=0.3, b=0.2, c=0.1, tuned=0.5 + 0.01 * number) for number in range(8)]
    found = gain(tasks[:4], tasks[4:])
    assert found["chosen"][0] == "tuned"
    assert found["difference"] == pytest.approx(np.mean([0.5 + 0.01 * number for number in range(4, 8)]) - 0.3)
    assert found["interval"][0] > 0.2


def test_what_differs_from_task_to_task_is_not_learnt() -> None:
    rng = np.random.default_rng(0)
    names = ("a", "b", "c", "other", "another", "third")
    tasks = [known(**dict(zip(names, rng.random(6), strict=True))) for _ in range(100)]
    low, high = gain(tasks[:50], tasks[50:])["interval"]
    assert low <= 0 <= high


def test_only_long_sentences_and_names_are_compared() -> None:
    assert long_sentences("One two three. A sentence that has far more than eight words in it.\n") == {
        "A sentence that has far more than eight words in it"
    }
    assert shares(({"a", "b", "c"}, {"x"}), ({"a", "d"}, {"x", "y"})) == (0.5, 1)


def test_what_is_done_is_not_done_again_and_a_cut_line_does_not_count(tmp_path: Path) -> None:
    line = json.dumps({"seed": 0, "trials": [vars(known(a=0.5)[0])]})
    (tmp_path / "tables-regression-training.jsonl").write_text(f'{line}\n{{"seed": 1, "tri', encoding="utf-8")
    assert read(tmp_path, "tables-regression", "training") == {0: known(a=0.5)}
    left = plan(tmp_path, ["tables-regression"], training=2, fresh=1)
    assert left == [("tables-regression", "fresh", 0), ("tables-regression", "training", 1)]


def test_recipes_run_on_a_tiny_task_and_their_scores_lie_on_the_way_to_the_ceiling(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("recipe_trials.CHANGES", ({"max_iter": 5},))
    monkeypatch.setattr("recipe_trials.RECIPES", [recipe for recipe in RECIPES if recipe.name == QUICK])
    found = try_all("tables-classification", TrainingSeed(2))
    assert found[0].candidate == "quick boosting"
    assert found[0].is_default
    assert len({trial.candidate for trial in found}) == len(found) == 2
    assert all(-1 <= trial.share <= 1 for trial in found)
    assert all(trial.said is not None for trial in found)
