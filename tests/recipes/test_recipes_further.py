"""Further tables: what they say of a row is found, joined and summed up."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recipe_scripts import profile_of, recipe_for, run_recipe, run_script

from podium.metrics import roc_auc
from podium.recipes.kit.inputs.side_tables import common_neighbours, compared, summed_up
from podium.recipes.script_writer import write_script
from podium.tables.profile import ForeignKey, Profile

ROWS, TRAIN = 900, 600
COMMON_NEIGHBOURS = """
pairs, links = read_table("pairs.csv"), read_table("links.csv")
found = common_neighbours(pairs["one"], pairs["other"], links["start"], links["end"])
found.to_csv("submission.csv", index=False)
"""


def write(public: Path, rows: pd.DataFrame, target: np.ndarray) -> None:
    table = rows.assign(row=[f"R{number}" for number in range(len(rows))])
    table.assign(y=target)[:TRAIN].to_csv(public / "train.csv", index=False)
    table[TRAIN:].to_csv(public / "test.csv", index=False)
    table[TRAIN:][["row"]].assign(y=0.5).to_csv(public / "sample_submission.csv", index=False)


def profile_by_auc(public: Path, brief: str = "") -> Profile:
    return profile_of(public, roc_auc, ids=("row",), targets=("y",), brief=brief)


def reached(profile: Profile, public: Path, target: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> float:
    recipe = recipe_for(profile, "quick boosting")
    outcome = run_recipe(recipe, profile, public, public / "script", monkeypatch)
    return float(roc_auc(target[TRAIN:], outcome.submission["y"].to_numpy()))


@pytest.fixture
def shops() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    names = [f"S{number:03d}" for number in range(120)]
    return pd.DataFrame({"shop": names, "size": rng.normal(size=120), "secret": rng.normal(size=120)})


@pytest.fixture
def visits(shops: pd.DataFrame) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame({"place": rng.choice(shops["shop"], ROWS), "age": rng.normal(size=ROWS)})


def test_a_table_in_an_archive_is_joined_by_its_values(
    shops: pd.DataFrame, visits: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = visits["place"].map(shops.set_index("shop")["size"])
    target = (size + 0.3 * visits["age"] > 0).to_numpy(int)
    write(tmp_path, visits, target)
    with zipfile.ZipFile(tmp_path / "more.zip", "w") as archive:
        archive.writestr("tables/shops.csv", shops.to_csv(index=False))
        archive.writestr("readme.txt", "shops")
    profile = profile_by_auc(tmp_path)
    assert profile.parents == (ForeignKey("place", "more.zip/tables/shops.csv", "shop"),)
    assert reached(profile, tmp_path, target, monkeypatch) > 0.95


def test_a_table_about_train_alone_is_left_alone(visits: pd.DataFrame, tmp_path: Path) -> None:
    write(tmp_path, visits, (visits["age"] > 0).to_numpy(int))
    rows = [f"R{number}" for number in range(ROWS)]
    energy = pd.DataFrame({"row": rows, "energy": visits["age"]})
    energy[:TRAIN].to_csv(tmp_path / "energy.csv", index=False)
    assert profile_by_auc(tmp_path).parents == ()
    energy.to_csv(tmp_path / "energy.csv", index=False)
    assert profile_by_auc(tmp_path).parents == (ForeignKey("row", "energy.csv", "row"),)


def test_what_a_brief_forbids_is_not_joined(
    shops: pd.DataFrame, visits: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(2)
    shops = pd.DataFrame({"shop": [f"S{number:03d}" for number in range(ROWS)], "secret": rng.normal(size=ROWS)})
    visits = visits.assign(place=rng.permutation(shops["shop"]))
    target = (visits["place"].map(shops.set_index("shop")["secret"]) > 0).to_numpy(int)
    write(tmp_path, visits, target)
    shops.to_csv(tmp_path / "shops.csv", index=False)
    assert reached(profile_by_auc(tmp_path), tmp_path, target, monkeypatch) > 0.95
    forbidding = profile_by_auc(tmp_path, "`secret` must not be used.")
    assert reached(forbidding, tmp_path, target, monkeypatch) < 0.65


def test_records_are_counted_by_kind_and_summed_up(
    visits: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    ids = np.repeat([f"R{number}" for number in range(ROWS)], 12)
    kinds = rng.choice(["opened door {}", "closed door {}", "rang {} times"], len(ids))
    texts = [kind.format(number) for kind, number in zip(kinds, rng.integers(1, 90, len(ids)), strict=True)]
    log = pd.DataFrame({"row": ids, "second": np.tile(np.arange(12), ROWS), "said": texts})
    count = log["said"].str.startswith("rang").groupby(log["row"], sort=False).sum().to_numpy()
    target = (count + rng.normal(size=ROWS) > 4).astype(int)
    write(tmp_path, visits, target)
    log.to_json(tmp_path / "log.jsonl", orient="records", lines=True)
    profile = profile_by_auc(tmp_path)
    assert profile.records == (ForeignKey("row", "log.jsonl", "row"),)
    assert reached(profile, tmp_path, target, monkeypatch) > 0.8


def test_summaries_of_records() -> None:
    table = pd.DataFrame({"id": [1, 1, 1, 2], "t": [0.0, 2.0, 5.0, 7.0], "what": ["in 3", "out", "in 5", "out"]})
    found = summed_up(table, "id").loc["1"]
    assert (found["records"], found["mean t"], found["max step of t"]) == (3, pytest.approx(7 / 3), 3)
    assert (found["what in #"], found["what out"], found["succession in what in # > out"]) == (2, 1, 1)
    assert found["number in what in #"] == pytest.approx(np.log1p([3, 5]).mean())


def test_things_that_a_row_compares_are_compared() -> None:
    rng = np.random.default_rng(4)
    one = pd.DataFrame({"name": [f"north mill {number}" for number in range(60)], "size": rng.normal(50, 9, 60)})
    is_same = np.arange(60) % 2 == 0
    other = pd.DataFrame({"called": one["name"].str.replace("mill", "mil"), "measure": one["size"] + 0.1})
    other[~is_same] = other[~is_same].sample(frac=1, random_state=0).to_numpy()
    other = other.astype({"measure": float})
    found = compared(one, other.assign(noise=rng.normal(size=60)))
    assert list(found) == ["name beside called", "size beside measure"]
    assert found["name beside called"][is_same].mean() > found["name beside called"][~is_same].mean() + 0.1
    assert found["size beside measure"][is_same].max() < 0.01


def test_ends_of_links_have_neighbours_in_common() -> None:
    starts, ends = pd.Series(["a", "b", "a", "d"]), pd.Series(["c", "c", "d", "b"])
    found = common_neighbours(pd.Series(["a", "a"]), pd.Series(["b", "e"]), starts, ends)
    assert found["common neighbours"].tolist() == [2, 0]
    assert found["product of degrees"].tolist() == [4, 0]


def test_links_and_rows_may_lack_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "links.csv").write_text("start,end\na,c\nb,c\na,d\nd,b\ne,\n,e\n", encoding="utf-8")
    (tmp_path / "pairs.csv").write_text("one,other\na,b\na,e\n,b\n", encoding="utf-8")
    script = write_script("Links.", COMMON_NEIGHBOURS, recipe="test")
    found = run_script(script, tmp_path, tmp_path / "work", monkeypatch).submission
    assert found["common neighbours"].tolist() == [2, 0, 0]
    assert found["product of degrees"].tolist() == [4, 2, 2]
