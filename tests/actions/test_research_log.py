"""Actions that use the fast model: reading files, and the research log."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from model_server import Fault
from workbench import Bench

from podium.actions.model_calls import MAX_BLOCK_CHARACTERS, split_blocks


def understand(file: str, question: str = "the learning rate") -> tuple[str, dict[str, str]]:
    return "understand_file", {"file_name": file, "things_to_look_for": question}


def test_a_short_file_is_read_in_one_call(bench: Bench) -> None:
    (bench.workspace / "a.py").write_text("rate = 0.1\n")
    bench.answers = ["It is 0.1."]
    assert bench.perform(understand("a.py")) == ["It is 0.1."]
    [request] = bench.models.requests
    assert request["model"] == "fast"
    assert "rate = 0.1" in bench.prompt(0)
    assert "the learning rate" in bench.prompt(0)


def test_a_long_file_is_read_in_blocks_and_merged(bench: Bench) -> None:
    (bench.workspace / "a.txt").write_text("".join(f"line {n}\n" for n in range(1_700)))
    bench.answers = ["first half", "second half", "both halves"]
    [observation] = bench.perform(understand("a.txt"))
    assert observation == "both halves"
    assert "part 1 of 2" in bench.prompt(0)
    assert "part 2 of 2" in bench.prompt(1)
    assert "first half" in bench.prompt(2)
    assert "second half" in bench.prompt(2)


def test_a_huge_file_is_read_up_to_the_limit(bench: Bench) -> None:
    (bench.data / "huge.csv").write_text("1,2,3\n" * 1_000_000)
    bench.answers = [*(f"part {n}" for n in range(10)), "merged"]
    [observation] = bench.perform(understand("data/huge.csv"))
    assert observation == "data/huge.csv is long: only its first 99,960 characters were read.\nmerged"
    assert len(bench.models.requests) == 11


def test_files_that_cannot_be_read_by_a_model_are_observations(bench: Bench) -> None:
    (bench.workspace / "a.bin").write_bytes(b"\0\1\2")
    (bench.workspace / "empty").write_text("\n")
    (bench.workspace / "a.py").write_text("x")
    bench.answers = [Fault(400)]
    missing, binary, empty, failed = bench.perform(
        understand("nowhere"), understand("a.bin"), understand("empty"), understand("a.py")
    )
    assert missing == "nowhere does not exist."
    assert "binary file of 3 bytes" in binary
    assert empty == "empty is empty."
    assert "The 'fast' model could not answer" in failed


def test_the_log_is_appended_to_and_retrieved(bench: Bench) -> None:
    bench.answers = ["You tried 0.1: 80 %."]
    *added, retrieved = bench.perform(
        ("append_summary_to_research_log", {"content": "Tried 0.1: 80 %.\n"}),
        ("Append Summary to Research Log", {"content": "Tried 0.2: 70 %."}),
        ("retrieval_from_research_log", {"current_plan": "try 0.05"}),
        problem="Make it better.",
    )
    assert added == ["The summary has been added to the research log."] * 2
    assert retrieved == "You tried 0.1: 80 %."
    assert (bench.workspace / "research_log.log").read_text() == "Tried 0.1: 80 %.\n\nTried 0.2: 70 %.\n\n"
    for part in ("Tried 0.1: 80 %.", "Tried 0.2", "Make it better.", "try 0.05"):
        assert part in bench.prompt(0)
    assert bench.models.requests[0]["model"] == "fast"


def test_an_empty_log_needs_no_model(bench: Bench) -> None:
    assert bench.one("retrieval_from_research_log", current_plan="") == "The research log is empty."
    assert not bench.models.requests


def test_reflection_gets_the_problem_the_log_and_the_question(bench: Bench) -> None:
    bench.answers = ["Nothing yet.", "Try something else."]
    observations = bench.perform(
        ("reflection", {"things_to_reflect_on": "why 80 %?"}),
        ("append_summary_to_research_log", {"content": "Got 80 %."}),
        ("reflection", {"things_to_reflect_on": "why 80 %?"}),
        problem="Make it better.",
    )
    assert observations[2] == "Try something else."
    assert "nothing has been recorded yet" in bench.prompt(0)
    for part in ("why 80 %?", "Make it better.", "Got 80 %."):
        assert part in bench.prompt(1)


def test_the_latest_part_of_a_long_log_is_used(bench: Bench) -> None:
    (bench.workspace / "research_log.log").write_text("old entry\n" + "entry\n" * 50_000 + "latest entry\n")
    bench.answers = ["reflected"]
    assert bench.one("reflection", things_to_reflect_on="x") == "reflected"
    assert "latest entry" in bench.prompt(0)
    assert "old entry" not in bench.prompt(0)


@given(st.text(alphabet=st.sampled_from("ab\n\r\u2028é"), max_size=200), st.integers(2, 20))
def test_blocks_make_up_the_text(text: str, size: int) -> None:
    blocks = split_blocks(text, size)
    assert "".join(blocks) == text
    assert all(len(block) < size for block in blocks)


def test_blocks_end_at_line_ends() -> None:
    text = "".join(f"{n:>9}\n" for n in range(3_000))
    assert all(block.endswith("\n") and len(block) < MAX_BLOCK_CHARACTERS for block in split_blocks(text))
    assert len(split_blocks(text)) == 4
