"""Briefs in a model's words: rules refuse what would mislead, and everything is recorded."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from model_server import Request, serving, text_of
from podium.catalog.forge.families import FAMILIES, TINY_FAMILIES, load_family
from podium.catalog.forge.field import draw_data
from podium.catalog.forge.rewording import QUESTION, broken_rule, prose_of, reword_brief
from podium.cli import main

ORIGINAL = "Around Velmere, 120 trays are watched. The nursery of Velmere asks which of `test.csv` are red or blue."
WORDS = {"red", "blue", "green"}


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("At Velmere they watch 120 trays, and ask which rows of `test.csv` are blue and which are red.", None),
        ("At Velmere they watch 12 trays, and ask which rows of `test.csv` are blue and which are red.", "numbers"),
        ("At Velmere they watch 120 trays, and ask which rows of `train.csv` are blue, which are red.", "backticks"),
        ("At Velmere they watch 120 trays, and ask which rows of `test.csv` are blue, which are pink.", "'red'"),
        ("At Belmere they watch 120 trays, and ask which rows of `test.csv` are blue, which are red.", "'Velmere'"),
        ("At Velmere they watch 120 trays, and ask which rows of `test.csv` are blue, red or green.", "'green' is new"),
        (
            "At Velmere they watch 120 trays of Dunmoor, and ask which of `test.csv` are blue or red.",
            "'Dunmoor' is new",
        ),
        ("Velmere: 120 trays, `test.csv`, red, blue.", "half"),
        (f"{ORIGINAL}\n\n## Metric\nAccuracy.", "one paragraph"),
        (f"{ORIGINAL} <img src=x>", "one paragraph"),
        ("", "one paragraph"),
    ],
)
def test_an_answer_keeps_names_numbers_and_labels(answer: str, fault: str | None) -> None:
    found = broken_rule(ORIGINAL, answer, WORDS)
    assert found is None if fault is None else fault in (found or "")


@pytest.mark.parametrize(
    "family",
    [family if family in TINY_FAMILIES else pytest.param(family, marks=pytest.mark.slow) for family in FAMILIES],
)
def test_every_family_has_prose_and_only_that_is_reworded(family: str) -> None:
    forged = draw_data(load_family(family), "tiny" if family in TINY_FAMILIES else "easy", 5)
    assert len(list(prose_of(forged.brief))) >= 1
    done = reword_brief(forged.brief, forged.public, lambda question: asked(question) + " Good luck.", "echo")
    assert done.changed == len(done.passages)
    assert done.brief.replace(" Good luck.", "") == forged.brief


def test_a_passage_that_a_model_gets_wrong_three_times_stays() -> None:
    forged = draw_data(load_family("tables-regression"), "tiny", 5)
    questions: list[str] = []

    def ask(question: str) -> str:
        questions.append(question)
        return "Something else altogether."

    done = reword_brief(forged.brief, forged.public, ask, "poor")
    assert (done.brief, done.changed) == (forged.brief, 0)
    assert all(len(passage.refused) == 3 for passage in done.passages)
    assert "An earlier answer was refused" in questions[1]


def test_a_fresh_task_is_told_in_a_models_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PODIUM_HOME", str(tmp_path))
    monkeypatch.setenv("PODIUM_API_KEY", "none")

    def answer(request: Request, rng: random.Random) -> str:
        return "Listen. " + asked(text_of(request))

    with serving(answer) as server:
        model = ["--reword", "openai-api/podium/scripted", "--model-base-url", server.url]
        assert forge("tables-regression", "--difficulty", "tiny", "--json", *model) == 0
    captured = capsys.readouterr()
    task, folder = (json.loads(captured.out)[key] for key in ("task", "data"))
    assert "in other words" in captured.err
    record = json.loads((Path(folder) / "private" / "rewording.json").read_text())
    brief = (Path(folder) / "public" / "description.md").read_text()
    assert "Listen. " in brief
    assert (brief, brief.replace("Listen. ", "")) == (record["brief"], record["original"])
    assert forge("--reveal", task) == 0
    assert forge(task, "--from-secret", capsys.readouterr().out.strip()) == 0, "the same bytes, the new brief included"


@pytest.mark.parametrize("further", [["--seed", "7"], ["--split", "train"]])
def test_tasks_that_are_the_same_everywhere_keep_their_brief(
    further: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert forge("tables-regression", "--reword", "openai/gpt-4o", *further) == 2
    assert "fresh task" in capsys.readouterr().err


def asked(question: str) -> str:
    """The text that a question is about."""
    before, after = QUESTION.split("{text}")
    return question[question.index(before) :].removeprefix(before).removesuffix(after).split("\n\nAn earlier")[0]


def forge(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(["forge", *arguments])
    return int(stop.value.code or 0)
