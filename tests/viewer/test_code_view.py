"""Scripts are highlighted and compared, whatever they hold."""

from __future__ import annotations

import pytest

from podium.viewer.drawing.code_view import MAX_DIFF_LINES, compare_scripts, highlight, show_code


def test_scripts_are_escaped() -> None:
    (line,) = highlight("'</span><script>alert(1)</script>' # <img src=x>")
    assert "<script" not in line and "<img" not in line and "&lt;script&gt;" in line


def test_every_highlighted_line_has_balanced_markup() -> None:
    for line in highlight('x = """a\nb <i>\nc"""\ny = f"{x}"'):
        assert line.count("<span") == line.count("</span>")


def test_changes_are_shown_with_a_little_around_them() -> None:
    older = "\n".join(f"x{n} = {n}" for n in range(40))
    changes = compare_scripts(older, older.replace("x20 = 20", "x20 = 21\nz = 1"))
    assert changes is not None and (changes.added, changes.removed) == (2, 1)
    assert [line.kind for line in changes.lines] == [
        "left out", *["same"] * 3, "removed", "added", "added", *["same"] * 3, "left out",
    ]  # fmt: skip
    assert [line.number for line in changes.lines if line.kind == "added"] == [21, 22]
    assert str(changes.lines[0].code) == "17 unchanged lines" and str(changes.lines[-1].code) == "16 unchanged lines"


@pytest.mark.parametrize("script", ["x\n" * (MAX_DIFF_LINES + 1), "x" * 30_000])
def test_long_scripts_are_not_compared(script: str) -> None:
    assert compare_scripts("y", script) is None
    assert len(show_code(script).clip.text) <= 20_000
