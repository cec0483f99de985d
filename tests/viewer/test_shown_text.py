"""Text from agents is shown as what it is."""

from __future__ import annotations

import pytest

from podium.grading.grade import Grade
from podium.runs.records import CurvePoint
from podium.task import Medal
from podium.viewer.drawing.brief_html import render_markdown
from podium.viewer.drawing.score_chart import HEIGHT, WIDTH, ScriptScore, draw
from podium.viewer.shown_text import clip, clip_bytes, name, short, visible
from podium.workspace.budget import Usage


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b(B\x1bM\x9b2J.", "."),
        ("\x1b", "⟨1B⟩"),
        ("a\rb\r\nc", "a\nb\nc"),
        ("bell\x07 nul\x00 del\x7f c1\x85", "bell⟨07⟩ nul⟨00⟩ del⟨7F⟩ c1⟨85⟩"),
        ("abc\u202edef\u2066", "abc⟨U+202E⟩def⟨U+2066⟩"),
        ("half \ud800", "half \ufffd"),
        ("ünïcödé 🙂 日本", "ünïcödé 🙂 日本"),
    ],
)
def test_nothing_is_hidden(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(shown) == shown


def test_escapes_that_never_end_are_left_out_at_once() -> None:
    assert visible("\x1b]" * 200_000 + "x" * 1_000_000) == ""
    assert visible("\x1b[" + "0" * 1_000_000).startswith("0")


def test_names_stay_on_their_line() -> None:
    assert name("a\nb\x1b[2J\r\u202ec") == "a⟨0A⟩b⟨1B⟩[2J⟨0D⟩⟨U+202E⟩c"


def test_long_texts_are_cut() -> None:
    assert clip("abc").is_whole and not clip("abcd", 3).is_whole and clip("abcd", 3).text == "abc"
    cut = clip_bytes(b"\xff" * 10, 1_000)
    assert cut.size == 1_000 and not cut.is_whole and cut.text == "\ufffd" * 10
    assert short("a\n b\t" * 100, 10) == "a b a b a…" and short(" one\nline ") == "one line"


def point(when: float, score: float | None, medal: Medal | None = None) -> CurvePoint:
    grade = Grade("task", "v1", valid=score is not None, score=score, medal=medal)
    return CurvePoint(line=1, submission="", usage=Usage(working_s=when), grade=grade)


@pytest.mark.parametrize("higher", [True, False])
def test_up_is_better_on_a_chart(higher: bool) -> None:
    sign = 1 if higher else -1
    points = [point(0, None), point(1, 0.5 * sign), point(5, 0.7 * sign, "bronze"), point(9, -50.0 * sign)]
    scripts = [ScriptScore(2, 0.9 * sign, "good", "/x")]
    chart = draw(points, scripts, {"gold": 0.8 * sign, "median": 0.6 * sign}, higher_is_better=higher, end_s=10)
    assert chart is not None
    good, _, worse, better, worst = chart.marks
    assert good.y < better.y < worse.y <= worst.y
    assert chart.lines[0].y < chart.lines[1].y and chart.lines[1].label_y - chart.lines[0].label_y >= 14
    assert all(0 <= mark.x <= WIDTH and 0 <= mark.y <= HEIGHT for mark in chart.marks)
    assert chart.paths[0].points.count(",") == 6  # a step for each score, then on to the end


def test_without_scores_there_is_no_chart() -> None:
    assert draw([point(0, None)], [], {"gold": 1.0}, higher_is_better=True, end_s=0) is None
    flat = draw([point(0, 1.0), point(0, float("inf"))], [], {}, higher_is_better=True, end_s=0)
    assert flat is not None and flat.paths[0].points


@pytest.mark.parametrize("score", [0.0, 5e-324, -1e99, 1e300, float("-inf")])
@pytest.mark.parametrize("end_s", [0.0, 1e-300, 1e15, 1e300])
def test_no_number_is_too_large_for_a_chart(score: float, end_s: float) -> None:
    chart = draw([point(end_s, 0.5), point(end_s, score)], [], {"gold": 0.7}, higher_is_better=True, end_s=end_s)
    assert chart is not None and len(chart.x_ticks) < 10 and len(chart.y_ticks) < 10
    assert all(0 <= mark.x <= WIDTH and 0 <= mark.y <= HEIGHT for mark in chart.marks)


def test_a_score_below_the_scale_is_marked() -> None:
    chart = draw([point(1, -50.0), point(5, 0.7)], [], {"gold": 0.8}, higher_is_better=True, end_s=10)
    assert chart is not None and [mark.is_below for mark in chart.marks] == [True, False]


def test_a_brief_is_rendered_without_html_links_or_images() -> None:
    html = render_markdown(
        '# Title\n<script>x</script> [here](https://example.org/?a="1) ![p](x.png)\n\n[j](javascript:x)'
    )
    assert html.startswith("<h3>Title</h3>") and "<script" not in html and "<img" not in html and "<a" not in html
    assert 'here <span class="quiet">(https://example.org/?a=%221)</span>' in html
