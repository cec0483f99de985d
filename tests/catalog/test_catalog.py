"""The catalogue: complete, fresh, and readable without importing its tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

import podium
from podium.catalog import registry
from podium.catalog.build_index import INDEX, make_index
from podium.errors import UnknownTaskError


def test_the_index_is_fresh() -> None:
    assert INDEX.read_text(encoding="utf-8") == make_index(), "run: make index"


def test_every_listed_task_loads_under_its_id() -> None:
    for task_id in podium.tasks():
        assert podium.load(task_id).id == task_id


def test_every_competition_has_a_brief() -> None:
    for task_id in podium.tasks():
        task = podium.load(task_id)
        assert task.generated or task.brief.startswith("# "), task_id


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("spaceship-titanik", "spaceship-titanic"), ("SPACESHIP-TITANIC", "spaceship-titanic"), ("quik", "quick")],
)
def test_an_unknown_name_is_answered_with_the_closest(wrong: str, right: str) -> None:
    with pytest.raises(UnknownTaskError, match=right):
        registry.expand([wrong])


def test_a_path_is_not_a_task() -> None:
    for name in ("../kaggle/spaceship_titanic", "__init__", "", "."):
        with pytest.raises(UnknownTaskError):
            podium.load(name)


def test_suites_and_tasks_expand_without_repeats() -> None:
    both = registry.expand(["spaceship-titanic", "mle-bench-dev"])
    assert both[0] == "spaceship-titanic"
    assert len(both) == len(set(both)) == len(podium.tasks("mle-bench-dev"))


def test_a_human_leaderboard_comes_with_the_task() -> None:
    board = podium.load("spaceship-titanic").reference
    assert board is not None
    assert not board.lower_is_better


def test_a_miniature_prepares_validates_and_grades(tmp_path: Path) -> None:
    done = podium.prepare("aerial-cactus-identification", data_dir=tmp_path, miniature=True)
    sample = done.place.public / "sample_submission.csv"
    assert podium.validate("aerial-cactus-identification", sample, data_dir=tmp_path).valid
    perfect = done.place.private / "test.csv"
    assert podium.grade("aerial-cactus-identification", perfect, data_dir=tmp_path).score == 1.0
