"""Both parts of a split reach their folders: tables, samples, answers and files, named by patterns."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from podium.data.fabricate import pictures, write_files
from podium.data.split_parts import Parts, file_names, link_parts, split_table, write_answers, write_parts, zip_parts
from podium.errors import RawDataError
from podium.metrics import accuracy
from podium.task import Columns, competition

FORM = Columns(id="id", target="kind", values=str, answers="answers.csv")


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path, Path]:
    for name in ("raw", "public", "private"):
        (tmp_path / name).mkdir()
    return tmp_path / "raw", tmp_path / "public", tmp_path / "private"


@pytest.fixture
def parts() -> Parts:
    train = pd.DataFrame({"id": ["a1", "b2"], "kind": ["cat", "dog"], "age": [3, 4]})
    return train, pd.DataFrame({"id": ["c3"], "kind": ["dog"], "age": [5]}, index=[7])


def listing(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_answers_come_with_a_sample_for_their_ids(folders: tuple[Path, Path, Path], parts: Parts) -> None:
    _, public, private = folders
    write_answers(FORM, parts[0], public, private, guess=lambda count: {"kind": ["cat"] * count})
    assert (public / "sample_submission.csv").read_text() == "id,kind\na1,cat\nb2,cat\n"
    assert (private / "answers.csv").read_text() == "id,kind,age\na1,cat,3\nb2,dog,4\n"
    assert listing(public) == ["sample_submission.csv"]


def test_tables_are_named_by_the_form(folders: tuple[Path, Path, Path], parts: Parts) -> None:
    _, public, private = folders
    write_parts(FORM, parts, public, private, guess="cat", hidden=["kind"])
    assert (public / "train.csv").read_text() == "id,kind,age\na1,cat,3\nb2,dog,4\n"
    assert (public / "test.csv").read_text() == "id,age\nc3,5\n"
    assert (public / "sample_submission.csv").read_text() == "id,kind\nc3,cat\n"
    assert (private / "answers.csv").read_text() == "id,kind,age\nc3,dog,5\n"


def test_without_hidden_columns_there_is_no_test_table(folders: tuple[Path, Path, Path], parts: Parts) -> None:
    _, public, private = folders
    write_parts(FORM, parts, public, private, guess="cat", train="labels.csv")
    assert listing(public) == ["labels.csv", "sample_submission.csv"]


def test_answers_may_have_a_column_per_class(folders: tuple[Path, Path, Path], parts: Parts) -> None:
    _, public, private = folders
    form = Columns(id="id", target=("cat", "dog"), values=float)
    write_parts(form, parts, public, private, guess={"cat": 0.25, "dog": 0.75}, classes="kind")
    assert (public / "sample_submission.csv").read_text() == "id,cat,dog\nc3,0.25,0.75\n"
    assert (private / "test.csv").read_text() == "id,cat,dog\nc3,0,1\n"


def test_guesses_may_be_drawn(folders: tuple[Path, Path, Path], parts: Parts) -> None:
    _, public, private = folders
    write_parts(FORM, parts, public, private, guess=lambda count: np.arange(count))
    assert (public / "sample_submission.csv").read_text() == "id,kind\nc3,0\n"


def test_patterns_take_columns_and_letters_of_them(parts: Parts) -> None:
    assert file_names(parts[0], "{id[0]}/{id}-{age:03d}.npy") == ["a/a1-003.npy", "b/b2-004.npy"]


def test_files_follow_their_rows(folders: tuple[Path, Path, Path], parts: Parts) -> None:
    raw, public, _ = folders
    write_files(raw, [(f"train/{name}.txt", name.encode()) for name in ("cat/a1", "dog/b2", "dog/c3")])
    link_parts(parts, raw, public, files="train/{kind}/{id}.txt", test_files="test/{id}.txt")
    assert listing(public) == ["test/c3.txt", "train/cat/a1.txt", "train/dog/b2.txt"]


def test_folders_follow_their_rows(folders: tuple[Path, Path, Path], parts: Parts) -> None:
    raw, public, _ = folders
    write_files(raw, [(f"train/{name}/1.txt", b"") for name in ("a1", "b2", "c3")])
    link_parts(parts, raw, public, files="train/{id}/")
    assert listing(public) == ["test/c3/1.txt", "train/a1/1.txt", "train/b2/1.txt"]


def test_files_may_get_other_names(folders: tuple[Path, Path, Path], parts: Parts) -> None:
    raw, public, _ = folders
    write_files(raw, [(f"images/{name}.txt", name.encode()) for name in ("a1", "b2", "c3")])
    renamed = [
        part.assign(id=[f"{kind}{row}" for row in range(len(part))]) for kind, part in zip("xy", parts, strict=True)
    ]
    link_parts(parts, raw, public, files="images/{id}.txt", renamed=renamed)
    assert {name: (public / name).read_text() for name in listing(public)} == {
        "images/x0.txt": "a1",
        "images/x1.txt": "b2",
        "images/y0.txt": "c3",
    }


def test_a_missing_file_is_named(folders: tuple[Path, Path, Path], parts: Parts) -> None:
    raw, public, _ = folders
    with pytest.raises(RawDataError, match=r"a1\.txt"):
        link_parts(parts, raw, public, files="train/{id}.txt")


def test_archives_are_repacked(folders: tuple[Path, Path, Path], parts: Parts) -> None:
    raw, public, _ = folders
    with zipfile.ZipFile(raw / "train.zip", "w") as archive:
        for name in ("a1", "b2", "c3"):
            archive.writestr(f"inside/{name}.txt", name)
    zip_parts(parts, raw / "train.zip", public, files="inside/{id}.txt")
    packed = {name: zipfile.ZipFile(public / name).namelist() for name in listing(public)}
    assert packed == {"test.zip": ["c3.txt"], "train.zip": ["a1.txt", "b2.txt"]}


def test_a_table_split_does_it_all(folders: tuple[Path, Path, Path]) -> None:
    raw, public, private = folders
    table = pd.DataFrame({"id": range(10), "kind": "cat"})
    table.to_csv(raw / "train.csv.zip", index=False)
    write_files(raw, pictures(np.random.default_rng(0), file_names(table, "train/{id}.png"), table["id"]))
    write_files(raw, [("notes.txt", b""), ("more/notes.txt", b"")])
    task = competition("toy", title="Toy", kind="image classification", metric=accuracy, submission=FORM)
    split_table(task, 0.1, table="train.csv.zip", guess="cat", files="train/{id}.png", shared=["notes.txt", "more"])
    prepare = task.editions["v1"].prepare
    assert prepare
    prepare(raw, public, private)
    shown = [name for name in listing(public) if name.endswith(".png")]
    assert (len(shown), sum(name.startswith("test/") for name in shown)) == (10, 1)
    assert {"train.csv", "sample_submission.csv", "notes.txt", "more/notes.txt"} <= set(listing(public))
    assert listing(private) == ["answers.csv"]
