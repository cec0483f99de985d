"""Edits by instruction: what the model is asked, what is made of its answer, and how it is undone."""

from __future__ import annotations

import pytest
from model_server import Fault
from workbench import Bench

from podium.actions.files.edit_script import fenced_block

SCRIPT = "import os\n\nrate = 0.1\nprint(rate)\n"


def edit(script: str, save: str, instruction: str = "halve the rate") -> tuple[str, dict[str, str]]:
    return "edit_script", {"script_name": script, "edit_instruction": instruction, "save_name": save}


def test_an_edit_is_saved_and_shown_as_a_diff(bench: Bench) -> None:
    (bench.workspace / "train.py").write_text(SCRIPT)
    bench.answers = [f"Sure.\n```python\n{SCRIPT.replace('0.1', '0.05')}```\nDone."]
    [observation] = bench.perform(edit("train.py", "train.py"))
    assert observation.startswith("train.py was saved. Check")
    assert "--- train.py\n+++ train.py\n@@ -1,5 +1,5 @@" in observation
    assert "-rate = 0.1\n+rate = 0.05\n" in observation
    assert (bench.workspace / "train.py").read_text() == SCRIPT.replace("0.1", "0.05")
    assert bench.models.requests[0]["model"] == "edit"
    assert SCRIPT in bench.prompt(0)
    assert "halve the rate" in bench.prompt(0)


def test_the_main_model_edits_by_default(bench: Bench) -> None:
    bench.roles = {}
    bench.answers = ["```\n1\n```"]
    bench.perform(edit("train.py", "train.py"))
    assert bench.models.requests[0]["model"] == "main"


def test_undo_reverts_the_written_file_not_the_one_read(bench: Bench) -> None:
    (bench.workspace / "code").mkdir()
    (bench.workspace / "code/a.py").write_text("a = 1\n")
    (bench.workspace / "code/b.py").write_text("b = 1\n")
    bench.answers = ["```\na = 2\n```", "```\na = 3\n```"]
    bench.perform(edit("code/a.py", "code/b.py"), edit("code/b.py", "code/b.py"))
    assert (bench.workspace / "code/b.py").read_text() == "a = 3\n"
    first, second, third, other = bench.perform(
        *[("undo_edit_script", {"script_name": "code/b.py"})] * 3,
        ("undo_edit_script", {"script_name": "code/a.py"}),
    )
    assert first.endswith("a = 2\n")
    assert second.endswith("b = 1\n")
    assert "no edit of code/b.py" in third
    assert "no edit of code/a.py" in other
    assert (bench.workspace / "code/a.py").read_text() == "a = 1\n"


def test_a_script_that_does_not_exist_starts_empty(bench: Bench) -> None:
    bench.answers = ["```python\nprint('new')\n```"]
    [observation, undone] = bench.perform(
        edit("new.py", "new.py", "print new"), ("undo_edit_script", {"script_name": "new.py"})
    )
    assert "+print('new')" in observation
    assert "has been removed" in undone


def test_a_malformed_answer_is_requested_again_once(bench: Bench) -> None:
    (bench.workspace / "train.py").write_text(SCRIPT)
    bench.answers = ["I changed it, trust me.", "```\nfixed\n```"]
    [observation] = bench.perform(edit("train.py", "train.py"))
    assert "+fixed" in observation
    assert [message["role"] for message in bench.models.requests[1]["messages"]] == ["user", "assistant", "user"]


def test_two_malformed_answers_change_nothing(bench: Bench) -> None:
    (bench.workspace / "train.py").write_text(SCRIPT)
    bench.answers = ["```\na\n```\nand\n```\nb\n```", "```python\ncut off"]
    observation, undone = bench.perform(edit("train.py", "train.py"), ("undo_edit_script", {"script_name": "train.py"}))
    assert observation.startswith("Nothing was changed")
    assert "no edit" in undone
    assert (bench.workspace / "train.py").read_text() == SCRIPT


def test_a_model_that_fails_is_an_observation(bench: Bench) -> None:
    (bench.workspace / "train.py").write_text(SCRIPT)
    bench.answers = [Fault(400, "this model does not want to"), "   "]
    failed, empty = bench.perform(edit("train.py", "train.py"), edit("train.py", "train.py"))
    assert "The 'edit' model could not answer" in failed
    assert "this model does not want to" in failed
    assert "its answer was empty" in empty


def test_files_that_cannot_be_edited(bench: Bench) -> None:
    (bench.workspace / "long.py").write_text("x = 1\n" * 40_000)
    (bench.workspace / "latin.py").write_bytes(b"# caf\xe9\n")
    (bench.workspace / "a.bin").write_bytes(b"\0\1")
    (bench.workspace / "train.py").write_text(SCRIPT)
    bench.answers = ["```\nchanged\n```"]
    long, latin, binary, folder, protected = bench.perform(
        edit("long.py", "x"), edit("latin.py", "x"), edit("a.bin", "x"), edit("data", "x"),
        edit("train.py", "data/train.csv"),
    )  # fmt: skip
    assert "too large to edit" in long
    assert "not UTF-8" in latin
    assert "binary" in binary
    assert "is a folder" in folder
    assert "read-only" in protected


def test_an_edit_without_effect_is_reported(bench: Bench) -> None:
    (bench.workspace / "train.py").write_text(SCRIPT)
    bench.answers = [f"```\n{SCRIPT}```"]
    assert "changed nothing" in bench.perform(edit("train.py", "train.py"))[0]


def test_line_endings_and_backticks_of_a_script_survive(bench: Bench) -> None:
    script = 'doc = """\r\n```\r\ncode\r\n```\r\n"""\r\n'
    (bench.workspace / "a.py").write_bytes(script.encode())
    bench.answers = [f"````\n{script.replace(chr(13), '')}x = 1\n````"]
    [observation] = bench.perform(edit("a.py", "a.py"))
    assert "````\ndoc" in bench.prompt(0)
    assert (bench.workspace / "a.py").read_bytes() == script.encode() + b"x = 1\r\n"
    assert observation.count("\n-") == 1  # the header alone


def test_a_segment_is_spliced_back(bench: Bench) -> None:
    (bench.workspace / "train.py").write_text(SCRIPT)
    bench.answers = ["```\nrate = 0.2\nsteps = 5\n```"]
    arguments = {
        "script_name": "train.py", "start_line_number": 3, "end_line_number": "3",
        "edit_instruction": "add steps", "save_name": "train.py",
    }  # fmt: skip
    [observation] = bench.perform(("Edit Script Segment (AI)", arguments))
    assert (bench.workspace / "train.py").read_text() == "import os\n\nrate = 0.2\nsteps = 5\nprint(rate)\n"
    assert "+steps = 5" in observation
    assert "lines 3 to 3" in bench.prompt(0)
    assert "import os" not in bench.prompt(0)


def test_a_segment_must_exist(bench: Bench) -> None:
    (bench.workspace / "train.py").write_text(SCRIPT)
    ranges = [(0, 2), (3, 2), (2, 5), (9, 9)]
    observations = bench.perform(
        *(
            (
                "edit_script_segment",
                {
                    "script_name": "train.py",
                    "start_line_number": start,
                    "end_line_number": end,
                    "edit_instruction": "x",
                    "save_name": "y",
                },
            )
            for start, end in ranges
        )
    )
    assert all("train.py has 4 lines, so lines" in observation for observation in observations)
    assert not bench.models.requests


@pytest.mark.parametrize(
    ("answer", "block"),
    [
        ("```python\na\nb\n```", "a\nb\n"),
        ("text\n```\na\n```\nmore", "a\n"),
        ("```\n```", ""),
        ("````\n```\na\n```\n````", "```\na\n```\n"),
        ("```\r\na\r\n```\r\n", "a\n"),
        ("no block", None),
        ("```\nopen", None),
        ("```\na\n```\n```\nb\n```", None),
        ("inline ```a``` only", None),
        ("", None),
    ],
)
def test_fenced_block(answer: str, block: str | None) -> None:
    assert fenced_block(answer) == block
