"""`make_task`: a table becomes a task that works, or is refused with a reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import podium
from podium.catalog.authoring.make_task import NewTask, make_task
from podium.catalog.authoring.picture_folder import read_pictures
from podium.catalog.authoring.read_cells import read_cells
from podium.catalog.authoring.source_table import Table, clean_table
from podium.data.fabricate import picture, write_bytes
from podium.errors import MissingExtraError, UsageError
from podium.task import Leaderboard

ROWS = 150


def trees() -> pd.DataFrame:
    """A table with everything that tables have: numbers, categories, texts, blanks, letters of all sorts."""
    rng = np.random.default_rng(5)
    age, soil = rng.integers(1, 60, ROWS), rng.choice(["clay", "sand", 'lo"am, wet'], ROWS)
    vigour = age / 20 + (soil == "clay") + rng.normal(0, 0.6, ROWS)
    return pd.DataFrame(
        {
            "tree_id": [f"t{number:03d}" for number in rng.permutation(ROWS)],
            "age": age,
            "soil": soil,
            "height|m": np.where(rng.random(ROWS) < 0.1, np.nan, rng.normal(4, 1, ROWS).round(2)),
            "note": [" ".join(rng.choice(["größer", "dry", "NA", "by the wall"], 5)) for _ in range(ROWS)],
            "unknown": [None] * ROWS,
            "bears": np.where(vigour > 2, "yes", "no"),
            "grade": np.digitize(vigour, [1, 2, 3]),
            "kilos": (10 * vigour + 20).round(1),
        }
    )


def make(folder: Path, target: str, **options: Any) -> NewTask:
    """The task `trees` in a folder; the field has ten entrants."""
    trees().drop(columns={"bears", "grade", "kilos"} - {target}).to_csv(folder / "trees.csv", index=False)
    scored: list[str] = []
    made = make_task(
        "trees",
        folder / "trees.csv",
        target=target,
        out=folder / "tasks",
        on_score=lambda pipeline, score: scored.append(pipeline),
        **options,
    )
    assert len(set(scored)) == 10
    return made


@pytest.fixture(scope="module")
def bears(tmp_path_factory: pytest.TempPathFactory) -> NewTask:
    return make(tmp_path_factory.mktemp("bears"), "bears")


@pytest.fixture
def searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[NewTask], None]:
    """Lets Podium search the folder of a new task."""

    def search(made: NewTask) -> None:
        monkeypatch.setenv("PODIUM_HOME", str(tmp_path / "home"))
        monkeypatch.setenv("PODIUM_TASKS", str(made.folder.parent))

    return search


def check_it_works(target: str, tmp_path: Path) -> None:
    """Both the data and its miniature can be prepared, validated and graded."""
    for miniature in (True, False):
        data_dir = tmp_path / f"data-{miniature}"
        done = podium.prepare("trees", data_dir=data_dir, miniature=miniature)
        assert done.miniature == miniature
        assert target not in pd.read_csv(done.place.public / "test.csv").columns
        assert podium.validate("trees", done.place.public / "sample_submission.csv", data_dir=data_dir).valid
        best = podium.grade("trees", done.place.private / "test.csv", data_dir=data_dir)
        assert best.medal == "gold", "nothing beats the answers"


def test_two_classes_are_predicted_as_a_probability(
    bears: NewTask, searched: Callable[[NewTask], None], tmp_path: Path
) -> None:
    searched(bears)
    assert podium.load("trees").metric.name == "roc_auc"
    assert (bears.train_rows, bears.test_rows) == (120, 30)
    names = {path.name for path in bears.folder.iterdir()} - {"__pycache__"}
    assert names == {"brief.md", "columns.json", "field.json", "task.py", "train.csv"}
    check_it_works("bears", tmp_path)


@pytest.mark.parametrize(
    ("target", "options", "metric"),
    [("grade", {"metric": "f1"}, "f1"), ("kilos", {"id_column": "tree_id"}, "rmse")],
)
def test_classes_and_numbers_are_predicted_as_they_are(
    tmp_path: Path, searched: Callable[[NewTask], None], target: str, options: dict[str, Any], metric: str
) -> None:
    searched(make(tmp_path, target, **options))
    assert podium.load("trees").metric.name == metric
    check_it_works(target, tmp_path)


def test_medals_come_from_a_field_that_really_trained(bears: NewTask, searched: Callable[[NewTask], None]) -> None:
    entrants = json.loads((bears.folder / "field.json").read_text())["entrants"]
    scores = [entrant["score"] for entrant in entrants]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > 0.8 > 0.5 == next(e["score"] for e in entrants if e["pipeline"] == "most frequent class")
    searched(bears)
    board = podium.load("trees").reference
    assert isinstance(board, Leaderboard)
    assert board.scores == tuple(scores)
    brief = (bears.folder / "brief.md").read_text()
    assert "a measured field, not from people: 10 scikit-learn pipelines" in brief
    assert f"Gold starts at {scores[0]:.5g}" in brief


def test_generic_automl_competes_where_it_is_installed(bears: NewTask, tmp_path: Path) -> None:
    if find_spec("flaml") is None:
        with pytest.raises(MissingExtraError, match=r"--automl needs an optional dependency.*podium\[automl\]"):
            make_task("trees", bears.folder / "train.csv", target="bears", automl=True, out=tmp_path, on_score=print)
        assert not list(tmp_path.iterdir())
        return
    made = make_task("trees", bears.folder / "train.csv", target="bears", automl=True, out=tmp_path, on_score=print)
    assert "FLAML, 30 trials" in {entrant.pipeline for entrant in made.field}


def test_the_brief_has_a_data_dictionary(bears: NewTask) -> None:
    brief = (bears.folder / "brief.md").read_text()
    assert "| age | whole number from 1 to 59 | never |" in brief
    assert "| height\\|m | number from" in brief
    assert "| soil | one of 3 values: " in brief
    assert "| note | text of about" in brief
    assert "| bears | the target: 1 for yes, 0 for no | never |" in brief
    assert "- `train.csv`: 120 rows with `bears`" in brief


def test_the_parts_have_the_same_share_of_each_class_and_no_row_in_common(
    bears: NewTask, searched: Callable[[NewTask], None]
) -> None:
    searched(bears)
    place = podium.prepare("trees").place
    train, answers = pd.read_csv(place.public / "train.csv"), pd.read_csv(place.private / "test.csv")
    assert train["bears"].mean() == pytest.approx(answers["bears"].mean(), abs=0.02)
    assert set(train["tree_id"]) & set(answers["tree_id"]) == set()
    assert len(train) + len(answers) == ROWS


def read_table(path: Path, target: str | None = None) -> Table:
    return clean_table(read_cells(path), path, target=target, metric=None, id_column=None)[0]


def test_rows_get_ids_that_do_not_tell_their_order(tmp_path: Path) -> None:
    trees().drop(columns="tree_id").to_csv(tmp_path / "trees.csv", index=False)
    table = read_table(tmp_path / "trees.csv", "kilos")
    assert (table.new_id, table.id) == (True, "id")
    ids = table.rows["id"].astype(int)
    assert sorted(ids) == list(range(ROWS))
    assert abs(np.corrcoef(ids, range(ROWS))[0, 1]) < 0.2


def test_rows_without_a_target_are_left_out(tmp_path: Path) -> None:
    rows = trees().drop(columns="grade")
    rows.loc[:9, "bears"] = None
    rows.to_csv(tmp_path / "trees.csv", index=False)
    table = read_table(tmp_path / "trees.csv", "bears")
    assert table.notes == ("Left out: 10 rows without 'bears'.",)
    assert (len(table.rows), table.id) == (ROWS - 10, "tree_id")


def test_what_gives_answers_away_is_left_out(tmp_path: Path) -> None:
    """The row number of a sorted file, the target in other words, and rows that could be on both sides."""
    rows = trees().drop(columns=["tree_id", "unknown"]).sort_values("kilos")
    rows = pd.concat([rows, rows[:20]], ignore_index=True).assign(bushels=lambda table: table["kilos"] / 25)
    rows.to_csv(tmp_path / "trees.csv")
    table = read_table(tmp_path / "trees.csv", "kilos")
    assert table.notes == (
        "Left out: the column '', which numbers the rows of the file.",
        "Left out: columns that give 'kilos' away (bushels).",
        "Left out: 20 duplicates of other rows, alike in all columns but the target.",
    )
    assert len(table.rows) == ROWS
    assert {"", "bushels"}.isdisjoint(table.rows)


def test_the_target_is_chosen_where_none_is_named(tmp_path: Path) -> None:
    trees()[["note", "age", "bears", "unknown"]].to_csv(tmp_path / "trees.csv", index=False)
    table = read_table(tmp_path / "trees.csv")
    assert table.target == "bears", "the last one that holds something to predict"
    assert "No target was named; 'bears' was chosen." in table.notes
    trees()[["note", "grade", "bears"]].rename(columns={"grade": "Class"}).to_csv(tmp_path / "trees.csv", index=False)
    assert read_table(tmp_path / "trees.csv").target == "Class"


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet"])
def test_a_table_is_read_however_it_is_written(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"trees{suffix}"
    if suffix == ".parquet":
        trees().to_parquet(path)
    else:
        trees().to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    assert list(read_cells(path)["soil"]) == list(trees()["soil"])


def test_pictures_in_folders_become_a_task(tmp_path: Path, searched: Callable[[NewTask], None]) -> None:
    rng = np.random.default_rng(1)
    for number in range(60):
        path = tmp_path / "leaves" / ("oak" if number % 2 else "ash") / f"{number}.png"
        write_bytes(path, picture(rng, tint=number % 2, suffix=".png"))
    write_bytes(tmp_path / "leaves/ash/again.png", (tmp_path / "leaves/ash/0.png").read_bytes())
    made = make_task("trees", tmp_path / "leaves", out=tmp_path / "tasks", on_score=lambda pipeline, score: None)
    searched(made)
    assert (podium.load("trees").kind, made.train_rows, made.test_rows) == ("image classification", 48, 12)
    assert made.field[0].score > 0.9
    check_it_works("label", tmp_path)
    public = podium.prepare("trees").place.public
    assert {path.stem for path in (public / "test").iterdir()} == set(pd.read_csv(public / "test.csv", dtype=str)["id"])


def test_pictures_without_labels_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There are no pictures in"):
        read_pictures(tmp_path)
    write_bytes(tmp_path / "1.png", picture(np.random.default_rng(0), suffix=".png"))
    with pytest.raises(UsageError, match=r"Nothing says what 1.png shows. Put pictures into a subfolder for each"):
        read_pictures(tmp_path)
    (tmp_path / "labels.csv").write_text("file,label\n2.png,oak\n")
    with pytest.raises(UsageError, match=r"No column of .*labels.csv names the pictures"):
        read_pictures(tmp_path)
    (tmp_path / "labels.csv").write_text("file,label\n1,oak\n")
    assert read_pictures(tmp_path)[0].to_dict("records") == [{"label": "oak", "picture": "1.png"}]
    (tmp_path / "2.png").write_bytes(b"no picture")
    (tmp_path / "labels.csv").write_text("file,label\n1,oak\n2,ash\n")
    with pytest.raises(UsageError, match=r"2.png cannot be read as a picture"):
        read_pictures(tmp_path)


LINES = ["tree,age,bears", *(f"t{n},{n % 7},{'yes' if n % 3 else 'no'}" for n in range(60))]


@pytest.mark.parametrize(
    ("change", "options", "problem"),
    [
        (lambda lines: [], {}, "trees.csv is empty"),
        (lambda lines: lines[:1], {}, "has 0 rows with a 'bears'; a task needs at least 50"),
        (lambda lines: lines[:20], {}, "has 19 rows with a 'bears'"),
        (lambda lines: lines, {"target": "baers"}, "no column 'baers'. Did you mean 'bears'? The columns are: tree"),
        (lambda lines: lines, {"id_column": "number"}, "has no column 'number'"),
        (lambda lines: lines, {"id_column": "age"}, "the id column 'age' has '0' more than once"),
        (lambda lines: lines, {"id_column": "bears"}, "'bears' is both --target and --id"),
        (lambda lines: lines, {"group": "bears"}, "cannot be split by 'bears', which is also --target or --id"),
        (lambda lines: [*lines[:30], "t9,,yes,3", *lines[30:]], {}, "line 31: 4 cells; the header has 3 columns"),
        (lambda lines: [line.partition(",")[0] for line in lines], {"target": "tree"}, "has only one column"),
        (lambda lines: ["tree,bears,bears", *lines[1:]], {}, "every column needs a name of its own; 'bears'"),
        (lambda lines: [line.replace("no", "yes") for line in lines], {}, "is always 'yes', so there is nothing"),
        (lambda lines: lines, {"target": "tree"}, "has 60 different values in 60 rows, such as 't0'"),
        (lambda lines: [*lines, *(f"u{n},3,like {n}" for n in range(8))], {}, "fewer than 5 rows of 'like 0' and 7"),
        (lambda lines: lines, {"group": "tree", "time": "age"}, "Use only one of --group, --time and --random"),
        (lambda lines: lines, {"group": "forest"}, "--group forest: there is no such column. The columns are: tree"),
        (lambda lines: lines, {"time": "tree"}, "such as 2026-05-31; for example, 't0' is not"),
        (lambda lines: ["soil,bears", *(f"clay,{n % 2}" for n in range(60))], {"group": "soil"}, "0% of the rows"),
        (lambda lines: lines, {"metric": "rmse"}, "--metric rmse compares numbers; the target 'bears' holds 'no'"),
        (lambda lines: lines, {"metric": "roc_auk"}, "--metric roc_auk is not available. Use one of: roc_auc"),
        (lambda lines: lines, {"target": "age", "metric": "log_loss"}, "is for two classes; the target 'age' has 7"),
        (lambda lines: lines, {"metric": "quadratic_kappa"}, "needs grades: whole numbers, which 'bears' does not"),
        (lambda lines: [line.replace(",3,", ",-3,") for line in lines], {"target": "age", "metric": "rmsle"}, "to -3"),
        (lambda lines: [*lines[:5], 'x,"1,yes', *lines[5:]], {}, "unexpected end of data"),
    ],
)  # fmt: skip
def test_a_table_that_will_not_do_is_refused_with_a_reason(
    tmp_path: Path, change: Any, options: dict[str, Any], problem: str
) -> None:
    path = tmp_path / "trees.csv"
    path.write_text("\n".join(change(LINES)), encoding="utf-8")
    with pytest.raises(UsageError) as refusal:
        make_task("trees", path, **{"target": "bears", **options}, out=tmp_path / "tasks", on_score=print)
    assert problem in str(refusal.value)
    assert not list(tmp_path.glob("tasks/*"))


def test_other_encodings_are_named_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "trees.csv").write_bytes("\n".join([*LINES, "großer,1,yes"]).encode("latin1"))
    with pytest.raises(UsageError, match=r"line 62: byte 0xdf is not UTF-8. Convert the file, for example: iconv"):
        make_task("trees", tmp_path / "trees.csv", target="bears", out=tmp_path / "tasks", on_score=print)


@pytest.mark.parametrize("name", ["../trees", "spaceship-titanic", "quick", "forge-trees", ""])
def test_a_name_that_cannot_be_an_id_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"is not a valid task id|built-in"):
        make_task(name, tmp_path / "trees.csv", target="bears", out=tmp_path, on_score=print)


def test_what_is_there_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "trees").mkdir()
    with pytest.raises(UsageError, match="already exists"):
        make_task("trees", tmp_path / "trees.csv", target="bears", out=tmp_path, on_score=print)
