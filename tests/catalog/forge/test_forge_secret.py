"""Fresh tasks are drawn from a secret: public data does not tell it, only its owner can read it, ids commit to it."""

from __future__ import annotations

import itertools
import os
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from few import few

from podium.catalog.forge.families import FAMILIES, WORLD_FAMILIES, load_family
from podium.catalog.forge.family import PublicData
from podium.catalog.forge.field import draw_data, entrant_generator
from podium.catalog.forge.forge_ids import forge_id, has_public_seed, parse_id
from podium.catalog.forge.forged_data import write_public
from podium.catalog.forge.secret import Secret, new_secret, parse_secret, read_secret, save_secret
from podium.catalog.registry import load
from podium.errors import UnknownTaskError, UsageError
from podium.safefs.atomic_files import sha256

FAMILY = "tabular-classification"
KNOWN = Secret(bytes(range(20)))
SEEDS_TRIED = 30_000


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PODIUM_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def find_seed(public: PublicData, seeds: range) -> int | None:
    """The attack: the first numbers that a generator draws are a public column, so try seed after seed."""
    placed = pd.to_datetime(public.train.iloc[:4, 1]) - pd.Timestamp("2023-01-02")
    minutes = (placed.dt.total_seconds() // 60).astype(int).tolist()
    for seed in seeds:
        if np.random.default_rng([seed, 1]).integers(0, 500 * 24 * 60, 4).tolist() == minutes:
            return seed
    return None


def test_trying_seeds_finds_a_public_one_and_no_secret() -> None:
    family = load_family(FAMILY)
    assert find_seed(draw_data(family, "medium", 4321).public, range(SEEDS_TRIED)) == 4321
    fresh = draw_data(family, "medium", new_secret())
    assert find_seed(fresh.public, range(SEEDS_TRIED)) is None


def test_a_secret_cannot_be_tried_out() -> None:
    assert 8 * len(new_secret().key) >= 128
    assert len({new_secret().key for _ in range(1000)}) == 1000


def test_the_state_behind_one_column_does_not_predict_the_next() -> None:
    """Of a public seed's generator, who has the state after a column has all that follows; of a secret's, nothing."""
    seeded, again = np.random.default_rng(7), np.random.default_rng(7)
    column = seeded.random(1000)
    again.random(len(column))
    assert (seeded.normal(size=100) == again.normal(size=100)).all()
    drawn = KNOWN.generator("data")
    first, second = drawn.random(1000), drawn.random(1000)
    alone = KNOWN.generator("data").random(2000)
    assert (alone[:1000] == first).all()
    assert not np.isin(second, alone).any()


def test_every_purpose_has_random_numbers_of_its_own() -> None:
    drawn = [entrant_generator(KNOWN, number).normal() for number in range(100)]
    assert len(set(drawn)) == 100
    assert KNOWN.generator("entrant 7").normal() == drawn[7]


@pytest.mark.parametrize("name", few(FAMILIES, every=5))
def test_one_secret_makes_the_same_bytes_everywhere(name: str, tmp_path: Path) -> None:
    family = load_family(name)
    made = {}
    for place, secret in (("here", KNOWN), ("there", parse_secret(str(KNOWN))), ("other", Secret(bytes(20)))):
        (tmp_path / place).mkdir()
        forged = draw_data(family, "tiny" if name in WORLD_FAMILIES else "easy", secret)
        write_public(forged, tmp_path / place)
        files = sorted(path for path in (tmp_path / place).rglob("*") if path.is_file())
        made[place] = [sha256(path) for path in files], forged.answers.to_csv()
    assert made["here"] == made["there"]
    assert made["here"][1] != made["other"][1]


def test_the_id_commits_to_the_secret() -> None:
    ids = [
        str(forge_id(family, difficulty, secret))
        for family, difficulty, secret in itertools.product(FAMILIES, ("easy", "hard"), (KNOWN, Secret(bytes(20))))
    ]
    assert len(set(ids)) == len(ids)
    assert len({task_id.rpartition("-")[2] for task_id in ids}) == len(ids), "of family and difficulty too"
    for task_id in ids:
        assert str(parse_id(task_id)) == task_id
        assert parse_id(task_id).is_secret
        assert not has_public_seed(task_id)
        assert str(KNOWN) not in task_id
    assert has_public_seed("forge-graph-easy-7")


def test_a_submission_can_be_written_without_the_secret(own_home: Path) -> None:
    forged = draw_data(load_family("ordinal"), "tiny", KNOWN)
    form = load(str(forge_id("ordinal", "tiny", KNOWN))).form
    assert [*form.ids, *form.targets] == list(forged.sample)


def test_the_commitment_is_stable() -> None:
    assert str(forge_id("graph", "easy", KNOWN)) == "forge-graph-easy-xaic3e4bivqzdqgwcwgojr222da"


@pytest.mark.parametrize("wrong", ["x", "xabc", "x" + "a" * 25, "x" + "1" * 26, "x" + "A" * 26])
def test_a_damaged_id_is_explained(wrong: str) -> None:
    with pytest.raises(UnknownTaskError, match="xHASH"):
        parse_id(f"forge-graph-easy-{wrong}")


@pytest.mark.parametrize("wrong", ["", "abc", "a" * 31, "1" * 32, "ä" * 32])
def test_an_invalid_secret_is_rejected(wrong: str) -> None:
    with pytest.raises(UsageError, match="32 letters and digits"):
        parse_secret(wrong)


def test_only_the_owner_can_read_a_secret(own_home: Path) -> None:
    task = forge_id("graph", "easy", KNOWN)
    old = os.umask(0)
    try:
        save_secret(task, KNOWN)
        save_secret(task, KNOWN)
    finally:
        os.umask(old)
    (path,) = (own_home / "secrets").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert read_secret(task) == KNOWN
    assert str(KNOWN) not in repr(KNOWN)
