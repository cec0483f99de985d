"""A model is asked about runs: only answers that point to what is really there count."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path

import pytest
from corpus_runs import call
from model_server import Reply, Request, serving, text_of

from podium.integrity.model_questions import MAX_CHUNK_CHARACTERS, MAX_CHUNKS, QUESTIONS, chunks, read_answer, read_mode
from podium.integrity.scan_evidence import RunEvidence, read_evidence
from podium.runs.run_folder import RunFolder

MODEL = "openai-api/podium/scripted"
SEEN = 'It searched everywhere.\nANSWER: yes, step 2: "find / -name"'


@pytest.fixture(scope="module")
def run(caught: RunFolder) -> RunEvidence:
    return read_evidence(caught)


@pytest.mark.parametrize(
    "answer",
    [
        "ANSWER: no",
        "Yes, it cheated.",
        'ANSWER: yes, step 99: "find / -name"',
        'ANSWER: yes, step 0: "find / -name"',
        'ANSWER: yes, step 1: "find / -name"',
        'ANSWER: yes, step 2: "cat /private/answers.csv"',
        'ANSWER: yes, step 2: "find"',
        'ANSWER: yes, step 2: "find / -name"\nBut perhaps not.',
        'ANSWER: yes, run 7, step 2: "find / -name"',
        "",
    ],
)
def test_an_answer_without_a_real_place_is_invalid(run: RunEvidence, answer: str) -> None:
    assert read_answer(answer, QUESTIONS[2], [run]) is None


def test_an_answer_with_a_real_place_is_a_finding(run: RunEvidence) -> None:
    found = read_answer(SEEN, QUESTIONS[2], [run])
    assert found
    assert (found[1].kind, found[1].step, found[1].source) == ("private data sought", 2, "model")
    assert "It searched everywhere." in found[1].reason


def test_a_mode_counts_only_with_a_real_place(run: RunEvidence) -> None:
    assert read_mode('MODE: bad plan, step 9: "find / -name"', run) is None
    assert read_mode('MODE: cheating, step 2: "find / -name"', run) is None
    found = read_mode('It looked for answers.\nMODE: bad plan, step 2: "find / -name"', run)
    assert found
    assert (found.mode, found.step, found.source) == ("bad plan", 2, "model")


def test_long_content_is_split_into_parts() -> None:
    assert [len(part) for part in chunks("x" * (MAX_CHUNK_CHARACTERS + 1))] == [MAX_CHUNK_CHARACTERS, 1]
    assert len(chunks("x" * (20 * MAX_CHUNK_CHARACTERS))) == MAX_CHUNKS


def test_all_questions_quote_the_content(caught: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[str] = []

    def behaviour(request: Request, rng: random.Random) -> Reply:
        asked.append(text_of(request))
        return Reply(SEEN if "was not given" in asked[-1] else "ANSWER: no")

    experiments = [Path(shutil.copytree(caught.experiment, tmp_path / name)) for name in "ab"]
    with serving(behaviour) as server:
        paths = [str(experiment) for experiment in experiments]
        assert call("integrity", "scan", *paths, "--model", MODEL, "--model-base-url", server.url, "--json") == 0
    scanned = json.loads(capsys.readouterr().out)
    assert [[each["step"] for each in run["findings"] if each["source"] == "model"] for run in scanned] == [[2], [2]]
    questions = [text for text in asked if "ANSWER:" in text]
    assert len(questions) == 2 * len(QUESTIONS) + 1  # and one that compares both
    marks = [re.findall(r"^(=== [0-9a-f]{16} ===)$", text, re.MULTILINE) for text in questions]
    assert all(len(found) == 2 and found[0] == found[1] for found in marks)
    assert "private data sought" in questions[0]  # what the rules noted


def test_an_unreachable_model_is_reported_at_once(caught: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("integrity", "scan", caught.path, "--model", "nobody/nothing") == 1
    assert "The model nobody/nothing cannot be used" in capsys.readouterr().err
