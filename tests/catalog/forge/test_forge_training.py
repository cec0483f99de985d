"""Tasks for training: small, fast, and never those that agents are measured with."""

from __future__ import annotations

from pathlib import Path

import pytest

import podium
from podium.board.check.check_rules import trained_on
from podium.catalog.forge.families import FAMILIES, TINY_FAMILIES, load_family
from podium.catalog.forge.field import draw_data, entrant_generator, lineup, read_field
from podium.catalog.forge.forge_ids import forge_id, has_public_seed, is_training_task, parse_id
from podium.catalog.forge.training_seeds import TrainingSeed
from podium.errors import UsageError
from podium.safefs.atomic_files import sha256


def test_the_id_shows_what_a_task_is_for() -> None:
    parts = forge_id("graph", "easy", 7, training=True)
    assert str(parts) == "forge-graph-easy-t7"
    assert parse_id(str(parts)) == parts
    assert is_training_task("forge-graph-easy-t7")
    assert not is_training_task("forge-graph-easy-7")
    assert has_public_seed("forge-graph-easy-t7")


@pytest.mark.parametrize("family", TINY_FAMILIES)
def test_a_seed_for_training_draws_other_data_than_the_same_public_seed(family: str) -> None:
    found = load_family(family)
    public, training = (draw_data(found, "tiny", source) for source in (7, TrainingSeed(7)))
    assert not public.answers.equals(training.answers)
    assert entrant_generator(7, 0).random() != entrant_generator(TrainingSeed(7), 0).random()


@pytest.mark.parametrize("family", TINY_FAMILIES)
def test_a_tiny_task_is_small_and_its_field_leaves_room(family: str, tmp_path: Path) -> None:
    task = f"forge-{family}-tiny-t3"
    one, two = (podium.prepare(task, data_dir=tmp_path / name).place for name in ("one", "two"))
    for name in ("public/train.csv", "private/test.csv", "private/leaderboard.json"):
        assert sha256(one.root / name) == sha256(two.root / name)
    rows = sum((one.public / name).read_text().count("\n") - 1 for name in ("train.csv", "test.csv"))
    # Notes have several lines each.
    assert family == "text-classification" or 50 <= rows <= 200
    field = read_field(one.private / "leaderboard.json")
    found = load_family(family)
    assert len(field.entrants) == len(lineup(found, "tiny")) >= 20
    assert found.metric.is_better(field.ceiling, field.scores[0])
    sample = podium.grade(task, one.public / "sample_submission.csv", data_dir=tmp_path / "one")
    assert sample.percentile is not None and sample.percentile < 50


def test_a_family_without_tiny_tasks_names_those_with_them() -> None:
    assert [family for family in FAMILIES if load_family(family).tiny] == list(TINY_FAMILIES)
    with pytest.raises(UsageError, match="'graph' has no tiny tasks"):
        podium.load("forge-graph-tiny-1")


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("", []),
        ("none", []),
        ("forge-graph-easy-7, spaceship-titanic", ["forge-graph-easy-7"]),
        ("forge-graph-easy-1..8", ["forge-graph-easy-7"]),
        ("forge-graph-easy-8..9", []),
        ("forge-graph-easy-t1..t9, forge-graph-easy-t1..9", ["forge-graph-easy-t5"]),
        ("forge-graph-easy-77", []),
    ],
)
def test_declared_training_tasks_are_found(declared: str, expected: list[str]) -> None:
    assert trained_on(declared, ["forge-graph-easy-7", "forge-graph-easy-t5"]) == expected
