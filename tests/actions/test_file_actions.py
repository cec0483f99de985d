"""Actions on files: observations, permissions and refusals."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from workbench import Bench


def test_a_folder_is_listed_with_marks(bench: Bench) -> None:
    (bench.workspace / "code").mkdir()
    (bench.workspace / "train.py").write_text("")
    (bench.workspace / "run.sh").write_text("")
    (bench.workspace / "run.sh").chmod(0o755)
    (bench.workspace / "link").symlink_to("train.py")
    assert bench.one("list_files", dir_path=".") == "code/\ndata/\nlink@\nrun.sh*\ntrain.py"


def test_podiums_own_files_are_neither_listed_nor_readable(bench: Bench) -> None:
    write, listing, peek = bench.perform(
        ("write_file", {"file_name": "a.py", "content": "1"}),
        ("list_files", {}),
        ("list_files", {"dir_path": ".podium/backups"}),
    )
    assert "has been written" in write
    assert listing == "a.py\ndata/"
    assert "reserved for Podium" in peek


def test_an_empty_folder_is_reported_as_empty(bench: Bench) -> None:
    (bench.workspace / "code").mkdir()
    assert bench.one("list_files", dir_path="code") == "code is empty."


def test_a_huge_folder_is_cut(bench: Bench) -> None:
    for number in range(2_500):
        (bench.data / f"{number:04}.png").touch()
    listing = bench.one("list_files", dir_path="data")
    assert "0000.png" in listing
    assert "train.csv" in listing
    assert "left out" in listing
    assert len(listing) < 21_000


def test_written_files_can_be_read(bench: Bench) -> None:
    text = "Zeile 1\r\nβ: 水 🚀\n\nend"
    names = ["notes.txt", "a/b/c/notes.txt", "/home/other.txt", "Äpfel und Öl.txt", "-rf"]
    writes = [("write_file", {"file_name": name, "content": text}) for name in names]
    reads = [("read_file", {"file_name": name}) for name in names]
    observations = bench.perform(*writes, *reads)
    assert observations == [f"{name} has been written." for name in names] + [text] * len(names)
    assert {(bench.workspace / name.removeprefix("/home/")).read_bytes() for name in names} == {text.encode()}


def test_append_adds_text_unchanged_and_creates_missing_files(bench: Bench) -> None:
    bench.perform(
        ("append_file", {"file_name": "logs/x", "content": "one"}),
        ("append_file", {"file_name": "logs/x", "content": " two\n"}),
    )
    assert (bench.workspace / "logs/x").read_text() == "one two\n"


def test_copies_go_to_a_file_or_into_a_folder(bench: Bench) -> None:
    (bench.workspace / "code").mkdir()
    first, second = bench.perform(
        ("copy_file", {"source": "data/train.csv", "destination": "new/mine.csv"}),
        ("copy_file", {"source": "data/train.csv", "destination": "code"}),
    )
    assert first == "data/train.csv has been copied to new/mine.csv."
    assert second == "data/train.csv has been copied to code/train.csv."
    assert (bench.workspace / "new/mine.csv").read_text() == (bench.workspace / "code/train.csv").read_text()


def test_a_file_is_not_copied_onto_itself(bench: Bench) -> None:
    (bench.workspace / "a").write_text("precious")
    (bench.workspace / "link").symlink_to("a")
    assert "same file" in bench.one("copy_file", source="a", destination="link")
    assert (bench.workspace / "a").read_text() == "precious"


def test_lines_are_numbered_and_counted(bench: Bench) -> None:
    (bench.workspace / "train.py").write_text("".join(f"line {n}\n" for n in range(1, 301)))
    observation = bench.one("inspect_script_lines", script_name="train.py", start_line_number=99, end_line_number=101)
    assert observation == "train.py has 300 lines. Lines 99 to 101:\n99\tline 99\n100\tline 100\n101\tline 101"


def test_lines_that_cannot_be_shown(bench: Bench) -> None:
    (bench.workspace / "a.py").write_text("1\n2\n3")
    cases = {
        (1, 101): "at most 100",
        (0, 5): "count from 1",
        (-3, 5): "count from 1",
        (5, 4): "count from 1",
        (7, 9): "has 3 lines, so line 7 does not exist",
        (1, 10**15): "at most 100",
    }
    observations = bench.perform(
        *(
            ("inspect_script_lines", {"script_name": "a.py", "start_line_number": start, "end_line_number": end})
            for start, end in cases
        )
    )
    for said, observation in zip(cases.values(), observations, strict=True):
        assert said in observation


def test_fewer_lines_than_asked_for_are_shown(bench: Bench) -> None:
    (bench.workspace / "a.py").write_text("1\n2\n3")
    observation = bench.one("inspect_script_lines", script_name="a.py", start_line_number=2, end_line_number=90)
    assert observation == "a.py has 3 lines. Lines 2 to 3:\n2\t2\n3\t3"


def test_a_very_long_line_is_cut(bench: Bench) -> None:
    (bench.workspace / "a.json").write_text("x" * 3_000_000 + "\nlast")
    observation = bench.one("inspect_script_lines", script_name="a.json", start_line_number=1, end_line_number=2)
    assert "[line cut here]" in observation
    assert observation.endswith("2\tlast")


def test_the_beginning_and_end_of_a_huge_file_are_shown(bench: Bench) -> None:
    with (bench.data / "huge.csv").open("wb") as file:
        file.write(b"first line\n" + "é".encode() * 5_000_000 + b"\nlast line")
    observation = bench.one("read_file", file_name="data/huge.csv")
    assert "data/huge.csv has 10,000,021 bytes: only its beginning" in observation
    assert "first line" in observation
    assert observation.endswith("last line")
    assert "\N{REPLACEMENT CHARACTER}" not in observation
    assert len(observation) < 20_000


def test_a_huge_sparse_file_costs_nothing(bench: Bench) -> None:
    with (bench.workspace / "giant").open("wb") as file:
        file.truncate(20 << 30)
    assert "binary file of 21,474,836,480 bytes" in bench.one("read_file", file_name="giant")


def test_binary_and_special_files_are_reported_as_such(bench: Bench) -> None:
    (bench.workspace / "a.png").write_bytes(b"\x89PNG\r\n\x00\x00" + bytes(range(256)))
    (bench.workspace / "latin.csv").write_bytes("name\nJosé\n".encode("latin-1"))
    (bench.workspace / "empty").touch()
    os.mkfifo(bench.workspace / "fifo")
    png, lines, latin, empty, fifo, device = bench.perform(
        ("read_file", {"file_name": "a.png"}),
        ("inspect_script_lines", {"script_name": "a.png", "start_line_number": 1, "end_line_number": 3}),
        ("read_file", {"file_name": "latin.csv"}),
        ("read_file", {"file_name": "empty"}),
        ("read_file", {"file_name": "fifo"}),
        ("write_file", {"file_name": "fifo", "content": "x"}),
    )
    assert "a.png is a binary file of 264 bytes" in png
    assert "binary" in lines
    assert latin == "latin.csv is not valid UTF-8: invalid bytes are shown as \ufffd.\nname\nJos\ufffd\n"
    assert empty == "empty is empty."
    assert fifo == "fifo is not a regular file."
    assert "fifo" in device
    assert "not" in device


FAILURES: list[tuple[str, dict[str, object], str]] = [
    ("list_files", {"dir_path": "nowhere"}, "nowhere does not exist."),
    ("list_files", {"dir_path": "file"}, "file is not a folder"),
    ("read_file", {"file_name": "nowhere"}, "nowhere does not exist."),
    ("read_file", {"file_name": "data"}, "data is a folder, not a file."),
    ("read_file", {"file_name": "file/x"}, "file/x is not a folder, or a part of its path is a file."),
    ("read_file", {"file_name": ""}, "The path is missing"),
    ("read_file", {"file_name": "a\0b"}, "'a\\x00b' is not a path."),
    ("read_file", {"file_name": "x" * 5_000}, "cannot be used: file name too long."),
    ("read_file", {"file_name": "loop"}, "loop"),
    ("read_file", {"file_name": "\ud800"}, "incomplete character"),
    ("write_file", {"file_name": "data", "content": ""}, "data is a folder, not a file."),
    ("write_file", {"file_name": "new/", "content": ""}, "new/ is a folder, not a file."),
    ("write_file", {"file_name": ".", "content": ""}, ". is a folder, not a file."),
    ("write_file", {"file_name": "x", "content": "\ud800"}, "incomplete character"),
    ("append_file", {"file_name": "file/x", "content": ""}, "a part of its path is a file"),
    ("copy_file", {"source": "nowhere", "destination": "x"}, "nowhere does not exist."),
    ("copy_file", {"source": "data", "destination": "x"}, "data is a folder"),
    ("undo_edit_script", {"script_name": "file"}, "There is no edit of file to undo."),
]


def test_failures_are_observations(bench: Bench) -> None:
    (bench.workspace / "file").write_text("content")
    (bench.workspace / "loop").symlink_to("loop")
    observations = bench.perform(*((action, arguments) for action, arguments, _ in FAILURES))
    for (_, _, said), observation in zip(FAILURES, observations, strict=True):
        assert said in observation
    assert sorted(path.name for path in bench.workspace.iterdir()) == ["data", "file", "loop"]
    assert (bench.workspace / "file").read_text() == "content"


def test_data_is_read_only_by_any_name(bench: Bench) -> None:
    (bench.workspace / "file").write_text("x")
    (bench.workspace / "link").symlink_to("data/train.csv")
    observations = bench.perform(
        ("write_file", {"file_name": "data/train.csv", "content": "x"}),
        ("write_file", {"file_name": "data/new.csv", "content": "x"}),
        ("append_file", {"file_name": "./data/../data/train.csv", "content": "x"}),
        ("copy_file", {"source": "file", "destination": "data/train.csv"}),
        ("copy_file", {"source": "file", "destination": "data"}),
        ("write_file", {"file_name": "link", "content": "x"}),
    )
    assert all("read-only" in observation for observation in observations)
    assert (bench.data / "train.csv").read_text() == "id,label\n1,2\n"
    assert [path.name for path in bench.data.iterdir()] == ["train.csv"]


OUTSIDE = [
    "/etc/passwd",
    "../etc/passwd",
    "data/../../etc/passwd",
    "link",
    "folder/passwd",
    "root/etc/passwd",
    "/homer",
]


def test_no_path_leads_out(bench: Bench) -> None:
    (bench.workspace / "link").symlink_to("/etc/passwd")
    (bench.workspace / "folder").symlink_to("/etc")
    (bench.workspace / "root").symlink_to("/proc/self/root")
    (bench.workspace / "file").write_text("x")
    reading = [("read_file", {"file_name": name}) for name in OUTSIDE]
    writing = [("write_file", {"file_name": name, "content": "x"}) for name in OUTSIDE]
    others = [
        ("list_files", {"dir_path": "folder"}),
        ("inspect_script_lines", {"script_name": "link", "start_line_number": 1, "end_line_number": 2}),
        ("append_file", {"file_name": "link", "content": "x"}),
        ("copy_file", {"source": "link", "destination": "mine"}),
        ("copy_file", {"source": "file", "destination": "folder"}),
        ("undo_edit_script", {"script_name": "link"}),
        ("execute_script", {"script_name": "link"}),
        ("edit_script", {"script_name": "link", "edit_instruction": "x", "save_name": "mine"}),
        ("understand_file", {"file_name": "link", "things_to_look_for": "x"}),
    ]
    observations = bench.perform(*reading, *writing, *others)
    assert all("is outside the workspace" in observation for observation in observations)
    assert not (bench.workspace / "mine").exists()
    assert not bench.models.requests


def test_links_within_the_workspace_are_followed(bench: Bench) -> None:
    (bench.workspace / "best.py").symlink_to("v1.py")
    bench.perform(("write_file", {"file_name": "best.py", "content": "1"}))
    assert (bench.workspace / "v1.py").read_text() == "1"
    assert (bench.workspace / "best.py").is_symlink()


def test_undo_goes_back_to_before_the_file_existed(bench: Bench) -> None:
    writes = [("write_file", {"file_name": "src/deep/a.py", "content": f"v{n}"}) for n in range(1, 4)]
    undo = ("undo_edit_script", {"script_name": "./src/deep/a.py"})
    *_, first, second, third, fourth = bench.perform(*writes, undo, undo, undo, undo)
    assert first.endswith("The file now contains:\nv2")
    assert "2 earlier edits" in first
    assert second.endswith("The file now contains:\nv1")
    assert "did not exist before the last edit and has been removed. 0 earlier" in third
    assert "no edit of ./src/deep/a.py to undo" in fourth
    assert not (bench.workspace / "src/deep/a.py").exists()


def test_undo_distinguishes_files_with_similar_names(bench: Bench) -> None:
    names = ["a.py", "code/a.py", "a.py_1", "a"]
    bench.perform(*(("write_file", {"file_name": name, "content": name}) for name in names))
    bench.perform(
        *(("write_file", {"file_name": name, "content": "changed"}) for name in names),
        ("undo_edit_script", {"script_name": "a.py"}),
    )
    assert [(bench.workspace / name).read_text() for name in names] == ["a.py", "changed", "changed", "changed"]


def test_undo_survives_a_new_sandbox(bench: Bench) -> None:
    bench.perform(*(("write_file", {"file_name": "a.py", "content": content}) for content in ("old", "new")))
    assert bench.one("undo_edit_script", script_name="a.py").endswith("old")


def test_a_refused_write_leaves_nothing_to_undo(bench: Bench) -> None:
    refused, undone = bench.perform(
        ("write_file", {"file_name": "data/train.csv", "content": "x"}),
        ("undo_edit_script", {"script_name": "data/train.csv"}),
    )
    assert "read-only" in refused
    assert "no edit" in undone


def test_file_names_that_are_not_utf_8_can_be_listed(bench: Bench) -> None:
    Path(os.fsdecode(bytes(bench.workspace) + b"/caf\xe9")).touch()
    assert "caf?" in bench.one("list_files", dir_path=".")


@pytest.mark.parametrize(
    "forged",
    [
        "5",
        "[" * 100_000,
        "{}",
        '{"result": 5}',
        '{"result": null, "refused": "no"}',
        '{"refused": {}}',
        '{"result": {}}',
    ],
)
def test_an_answer_forged_by_a_program_is_an_observation(bench: Bench, forged: str) -> None:
    (bench.workspace / "forged").write_text(forged)
    helper = bench.workspace / "helper"
    helper.write_text("#!/bin/sh\ncat forged\n")
    helper.chmod(0o755)
    actions = (
        ("list_files", {"dir_path": "."}),
        ("read_file", {"file_name": "a"}),
        ("undo_edit_script", {"script_name": "a"}),
    )
    for told in bench.perform(*actions, python="/home/helper"):
        assert told.startswith("The workspace could not be reached: ")
