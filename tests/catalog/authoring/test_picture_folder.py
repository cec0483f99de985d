"""Folders of pictures as tables: what their folders or a table say of them, and nothing that they say themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from podium.catalog.authoring.make_task import make_task
from podium.catalog.authoring.picture_folder import copy_pictures, read_pictures
from podium.data.fabricate import picture, write_bytes
from podium.errors import UsageError

Draw = Callable[..., None]


@pytest.fixture
def draw(tmp_path: Path) -> Draw:
    """Draws a picture, each another one, under some names."""
    rng = np.random.default_rng(1)

    def draw(*names: str) -> None:
        for name in names:
            write_bytes(tmp_path / name, picture(rng, suffix=Path(name).suffix))

    return draw


def labels(folder: Path) -> dict[str, str]:
    rows, _ = read_pictures(folder)
    return dict(zip(rows["picture"], rows["label"], strict=True))


def test_folders_of_parts_are_put_together_and_name_no_class(tmp_path: Path, draw: Draw) -> None:
    draw("all/train/cat/1.png", "all/train/dog/2.png", "all/Val/cat/1.png")
    rows, notes = read_pictures(tmp_path)
    assert sorted(rows["label"]) == ["cat", "cat", "dog"]
    assert notes == ["Put together: the pictures of all/Val, all/train, which are divided anew."]


def test_what_programs_keep_for_themselves_is_no_picture(tmp_path: Path, draw: Draw) -> None:
    draw("cat/1.png", "dog/2.png", ".ipynb_checkpoints/3.png", "__MACOSX/cat/4.png", "cat/._1.png")
    assert labels(tmp_path) == {"cat/1.png": "cat", "dog/2.png": "dog"}


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (
            ["cat/1.png", "dog/small/2.png"],
            "different depths, as cat/1.png and dog/small/2.png do. Put",
        ),
        (["train/cat/1.png", "train/dog/2.png", "test/3.png"], "Nothing says what test/3.png shows"),
        (["train/1.png", "val/2.png"], "Nothing says what train/1.png shows"),
    ],
)
def test_folders_that_do_not_tell_classes_are_refused(
    tmp_path: Path, draw: Draw, names: list[str], problem: str
) -> None:
    draw(*names)
    with pytest.raises(UsageError) as refusal:
        read_pictures(tmp_path)
    assert problem in str(refusal.value)


def test_no_column_that_names_pictures_is_left(tmp_path: Path, draw: Draw) -> None:
    draw("oak/1.png", "ash/2.png", "ash/3.png", "oak/4.png")
    lines = ["path,image_id,digit", *(f"/home/me/{n}.png,{n},{1 + n % 2}" for n in range(1, 5))]
    (tmp_path / "labels.csv").write_text("\n".join(lines))
    rows, _ = read_pictures(tmp_path)
    assert list(rows) == ["digit", "picture"], "digits are names of pictures only by chance"
    assert list(rows["picture"]) == ["oak/1.png", "ash/2.png", "ash/3.png", "oak/4.png"]


def test_what_is_lost_is_counted(tmp_path: Path, draw: Draw) -> None:
    draw("1.png", "2.png", "3.png", "5.png")
    (tmp_path / "3.png").write_bytes((tmp_path / "1.png").read_bytes())
    (tmp_path / "labels.csv").write_text("file,kind\n1,a\n2,b\n2,a\n3,a\n4,b\n")
    rows, notes = read_pictures(tmp_path)
    assert list(rows["picture"]) == ["1.png", "2.png"]
    assert notes == [
        "Left out: 1 row of labels.csv whose picture is not there.",
        "Left out: 1 row of labels.csv whose picture an earlier row has.",
        "Left out: 1 picture that no row of labels.csv names.",
        "Left out: 1 picture with the pixels of another one.",
    ]


def test_images_of_the_same_name_are_distinguished_by_folder(tmp_path: Path, draw: Draw) -> None:
    draw("a/1.png", "b/1.png")
    (tmp_path / "labels.csv").write_text("file,kind\na/1.png,x\nb/1.png,y\n")
    assert list(read_pictures(tmp_path)[0]["picture"]) == ["a/1.png", "b/1.png"]
    (tmp_path / "labels.csv").write_text("file,kind\n1.png,x\n")
    with pytest.raises(UsageError, match=r"'1\.png' can be a/1\.png or b/1\.png\. Name pictures with their folder"):
        read_pictures(tmp_path)


def test_a_damaged_picture_is_named_whatever_its_decoder_raises(tmp_path: Path, draw: Draw) -> None:
    draw("cat/1.png", "dog/2.png")
    content = (tmp_path / "dog/2.png").read_bytes()
    start = content.index(b"IDAT") + 4
    cut = content[: start - 8] + (20).to_bytes(4, "big") + content[start - 4 : start + 20]
    (tmp_path / "dog/2.png").write_bytes(cut + b"\0\0\0\0" + b"\0\0\0\x04\0\xff\0\xff" * 9)  # no chunk is called so
    with pytest.raises(UsageError, match=r"2\.png cannot be read as a picture"):
        read_pictures(tmp_path)


def test_pictures_are_copied_the_right_way_up_and_say_nothing_of_themselves(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "class 3"
    upright = Image.new("RGB", (20, 10), "red")
    upright.save(tmp_path / "held.jpg", exif=exif, comment=b"class 3", icc_profile=b"class 3")
    upright.save(tmp_path / "plain.jpg", comment=b"class 3", icc_profile=b"class 3")
    rows = pd.DataFrame({"id": ["0", "1"], "picture": ["held.jpg", "plain.jpg"]})
    assert copy_pictures(rows, "id", tmp_path, tmp_path / "train") == ".jpg"
    with Image.open(tmp_path / "train/0.jpg") as held, Image.open(tmp_path / "train/1.jpg") as plain:
        assert (held.size, plain.size) == ((10, 20), (20, 10))
    assert not any(b"class" in (tmp_path / f"train/{name}.jpg").read_bytes() for name in (0, 1))


def test_ids_of_a_table_never_become_paths_of_pictures(tmp_path: Path, draw: Draw) -> None:
    draw(*(f"leaves/{number}.png" for number in range(60)))
    lines = ["file,tree_id,kind", *(f"{number},../../{number},{'ab'[number % 2]}" for number in range(60))]
    (tmp_path / "leaves/labels.csv").write_text("\n".join(lines))
    made = make_task("leaves", tmp_path / "leaves", target="kind", out=tmp_path / "tasks", on_score=lambda *_: None)
    assert {path.stem for path in (made.folder / "train").iterdir()} == {str(number) for number in range(60)}
    assert made.table.new_id
    with pytest.raises(UsageError, match="--id tree_id: pictures are copied under new ids"):
        make_task("more", tmp_path / "leaves", id_column="tree_id", out=tmp_path / "tasks", on_score=print)
