"""Forge: the same seed gives the same bytes, nothing secret is public, and stored fields are as measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from few import few

import podium
from podium.catalog.forge.families import FIXED_FAMILIES, load_family
from podium.catalog.forge.field import FIELDS, draw_data, lineup, measure_entrants, read_field, run_pipeline
from podium.catalog.forge.forge_ids import parse_id
from podium.catalog.forge.forged_data import ForgedData, write_public
from podium.catalog.forge.forged_task import QUICK
from podium.errors import UsageError
from podium.grading.medals import thresholds
from podium.safefs.atomic_files import sha256
from podium.task import Leaderboard

SECRET_WORDS = ("forge", "podium", "synthetic", "simulated", "mechanism", "ceiling")
SAMPLED_ENTRANTS = [0, *(pytest.param(position, marks=pytest.mark.slow) for position in (20, -1))]
"""One of the naive and, as they take longer, at times one of the plain and one of the best."""


@pytest.fixture(scope="module", params=few(QUICK, every=3))
def quick(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def forged(quick: str) -> ForgedData:
    parts = parse_id(quick)
    return draw_data(load_family(parts.family), parts.difficulty, parts.seed)


def _hashes(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): sha256(path) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "wrong", ["forge-graph-medium", "forge-graph-medium-x", "forge-grap-medium-1", "forge-graph-huge-1"]
)
def test_a_wrong_id_is_explained(wrong: str) -> None:
    with pytest.raises(UsageError, match=r"Families|families|difficulty"):
        podium.load(wrong)


def test_an_id_survives_a_round_trip() -> None:
    assert str(parse_id("forge-image-segmentation-hard-12")) == "forge-image-segmentation-hard-12"


@pytest.mark.slow
def test_two_forgings_are_identical(quick: str, forged: ForgedData, tmp_path: Path) -> None:
    parts = parse_id(quick)
    again = draw_data(load_family(parts.family), parts.difficulty, parts.seed)
    for name, drawn in (("one", forged), ("two", again)):
        (tmp_path / name).mkdir()
        write_public(drawn, tmp_path / name)
    assert _hashes(tmp_path / "one") == _hashes(tmp_path / "two")


@pytest.mark.slow
def test_seeds_and_difficulties_differ(quick: str, forged: ForgedData) -> None:
    parts = parse_id(quick)
    family = load_family(parts.family)
    for other in (draw_data(family, "medium", parts.seed + 1), draw_data(family, "hard", parts.seed)):
        assert not forged.answers.equals(other.answers)


def test_nothing_secret_is_public(quick: str, forged: ForgedData, tmp_path: Path) -> None:
    parts = parse_id(quick)
    write_public(forged, tmp_path)
    for path in tmp_path.rglob("*"):
        assert not any(word in path.name.lower() for word in SECRET_WORDS)
        if path.suffix in {".md", ".csv"}:
            text = path.read_text(encoding="utf-8").lower()
            assert not [word for word in (*SECRET_WORDS, quick, parts.family) if word in text], path


def test_the_field_is_large_and_diverse(quick: str) -> None:
    family = load_family(parse_id(quick).family)
    assert len(lineup(family)) >= 60
    assert len({pipeline.name for pipeline in family.pipelines}) == len(family.pipelines) >= 12


@pytest.mark.parametrize("position", SAMPLED_ENTRANTS)
def test_a_remeasured_entrant_agrees_with_the_stored_field(quick: str, forged: ForgedData, position: int) -> None:
    parts = parse_id(quick)
    family = load_family(parts.family)
    number = position % len(lineup(family))
    pipeline = lineup(family)[number]
    prediction = run_pipeline(pipeline, forged, np.random.default_rng([parts.seed, number]))
    check_stored(quick, pipeline.name, family.score(forged, prediction))


@pytest.mark.slow
def test_entrants_are_measured_in_processes_of_their_own() -> None:
    quick = "forge-graph-medium-107"
    parts = parse_id(quick)
    found = list(measure_entrants(load_family(parts.family), parts.difficulty, parts.seed, [0, 20], workers=1))
    assert len(found) == 2
    for entrant in found:
        check_stored(quick, entrant.pipeline, entrant.score)


def check_stored(quick: str, pipeline: str, score: float) -> None:
    known = [other.score for other in read_field(FIELDS / f"{quick}.json").entrants if other.pipeline == pipeline]
    # Another machine's arithmetic may move a score a little, never further than this.
    assert min(abs(stored - score) for stored in known) < 0.01 * max(1.0, abs(score))


@pytest.mark.slow
def test_the_stored_field_is_hard_to_beat_by_defaults(quick: str, forged: ForgedData) -> None:
    family = load_family(parse_id(quick).family)
    field = read_field(FIELDS / f"{quick}.json")
    limits = thresholds(Leaderboard(field.lower_is_better, field.scores))
    targets = list(family.form_of(forged).targets)
    sample = forged.sample[targets if len(targets) > 1 else targets[0]].to_numpy()
    assert limits.medal(family.score(forged, sample)) is None
    fastest = family.defaults[-1]
    assert limits.medal(family.score(forged, run_pipeline(fastest, forged, np.random.default_rng(0)))) is None
    best = field.scores[0]
    assert family.metric.is_better(field.ceiling, best) or np.isclose(field.ceiling, best, rtol=0.02)


def test_a_quick_task_is_prepared_validated_and_graded(quick: str, tmp_path: Path) -> None:
    task = podium.load(quick)
    done = podium.prepare(task, data_dir=tmp_path)
    sample = done.place.public / "sample_submission.csv"
    assert podium.validate(task, sample, data_dir=tmp_path).valid
    grade = podium.grade(task, sample, data_dir=tmp_path)
    assert grade.valid
    assert grade.medal is None
    perfect = podium.grade(task, done.place.private / "test.csv", data_dir=tmp_path)
    assert perfect.medal == "gold"


def test_every_family_with_a_fixed_structure_is_in_the_quick_suite() -> None:
    assert [parse_id(task_id).family for task_id in podium.tasks("quick")] == list(FIXED_FAMILIES)
