"""A model that has memorised a task is found, one that has not is left alone."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_server import Reply, Request, serving, text_of

import podium
from podium.catalog.registry import resolve
from podium.cli import main
from podium.integrity.contamination.familiarity import performance, read_tokens
from podium.integrity.contamination.min_k import (
    Token,
    correlation,
    mean_probability,
    min_k_plus_plus,
    normalised_score,
)
from podium.integrity.contamination.probes import Fact, control_briefs, masked_facts, probe, probe_facts, probe_rows
from podium.runs.run_folder import RunFolder

TITANIC = "spaceship-titanic"
COLUMNS = ["PassengerId", "HomePlanet", "Age", "Spa"]


def memorised(facts: list[Fact]) -> Callable[[str], str]:
    """A scripted model that has read the briefs of some tasks."""
    known = {fact.question: fact.answer for fact in facts}
    return lambda question: f"`{known.get(question, 'no idea')}`\nI am sure."


def guessing(facts: list[Fact], rng: random.Random, luck: float) -> Callable[[str], str]:
    """One that has not: it guesses right now and then, in all briefs alike."""
    known = {fact.question: fact.answer for fact in facts}
    return lambda question: known[question] if rng.random() < luck else "something"


@pytest.fixture(scope="module")
def control() -> list[Fact]:
    return [fact for name, brief in control_briefs(12).items() for fact in masked_facts(name, brief)]


def test_a_masked_fact_does_not_appear_in_its_question() -> None:
    for fact in masked_facts(TITANIC, podium.load(TITANIC).brief):
        assert not re.search(rf"(?<!\w){re.escape(fact.answer)}(?!\w)", fact.question)
        assert "_____" in fact.question


def test_a_model_that_has_memorised_a_brief_is_found(control: list[Fact]) -> None:
    facts = masked_facts(TITANIC, podium.load(TITANIC).brief)
    found = probe_facts(memorised(facts), facts, control)
    assert (found.hits, found.control_hits) == (len(facts), 0)
    assert found.p < 0.01


def test_a_model_without_memory_is_flagged_in_at_most_five_of_a_hundred_repetitions(control: list[Fact]) -> None:
    facts = masked_facts(TITANIC, podium.load(TITANIC).brief)
    rng = random.Random(0)
    flagged = sum(
        probe_facts(guessing([*facts, *control], rng, luck), facts, control).p < 0.01
        for luck in (0.0, 0.1, 0.3, 0.6)
        for _ in range(50)
    )
    assert flagged <= 10


def table(rng: np.random.Generator, rows: int = 200) -> pd.DataFrame:
    cells = [[f"{n:04d}_01", rng.choice(["Earth", "Mars"]), rng.integers(80), rng.integers(3000)] for n in range(rows)]
    return pd.DataFrame(cells, columns=COLUMNS).astype(str)


def test_a_model_that_recites_the_first_rows_is_found() -> None:
    rows = table(np.random.default_rng(0))
    text = rows.head(5).to_csv(index=False, header=False)
    found = probe_rows(lambda question: f"Here they are:\n{text}", TITANIC, "brief", rows)
    assert found is not None
    assert (found.right, found.cells) == (20, 20)
    assert found.p < 0.01


def test_a_model_that_invents_rows_is_not_flagged() -> None:
    flagged = 0
    for seed in range(60):
        rows, others = (table(np.random.default_rng(each), rows=30) for each in (seed, 1000 + seed))
        made_up = others.sample(5, random_state=seed).to_csv(index=False, header=False)
        found = probe_rows(partial(lambda said, question: said, made_up), TITANIC, "brief", rows)
        assert found is not None
        flagged += found.p < 0.01
    assert flagged <= 3


@pytest.mark.parametrize("said", ["", "I do not know.", "a,b", '"', "\n" * 50, "1,2,3,4,5,6,7,8\n" * 99])
def test_any_answer_is_accepted(said: str) -> None:
    found = probe_rows(lambda question: said, TITANIC, "brief", table(np.random.default_rng(0)))
    assert found is not None
    assert found.p > 0.01


def token(true: float, *others: float) -> Token:
    return Token(math.log(true), tuple(sorted((math.log(each) for each in (true, *others)), reverse=True)))


def test_a_familiar_text_is_more_probable_than_another() -> None:
    familiar, strange = [token(0.9, 0.05)] * 50, [token(0.05, 0.9)] * 50
    assert mean_probability(familiar) == pytest.approx(0.9)
    assert min_k_plus_plus(familiar) > min_k_plus_plus(strange)


def test_a_token_outside_the_top_ten_counts_as_zero() -> None:
    assert mean_probability([Token(-9.0, (-1.0,) * 10)] * 5) == 0.0


def test_probabilities_are_read_as_servers_give_them() -> None:
    document = SimpleNamespace(
        token_logprobs=[None, -0.1, -2.0, -0.5], top_logprobs=[None, {"a": -0.1, "b": -3.0}, {"c": -0.5}, {"d": -0.5}]
    )
    assert read_tokens(document) == [Token(-0.1, (-0.1, -3.0)), Token(-2.0, (-0.5,))]


def test_the_correlation_has_an_interval() -> None:
    rng = np.random.default_rng(0)
    known = rng.random(40)
    related = correlation(known.tolist(), (known + rng.normal(0, 0.1, 40)).tolist())
    unrelated = correlation(known.tolist(), rng.random(40).tolist())
    assert related is not None
    assert unrelated is not None
    assert related.interval[0] > 0.5
    assert unrelated.interval[0] < 0 < unrelated.interval[1]
    assert correlation([1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0]) is None


@given(st.floats(-5, 5), st.floats(-5, 5))
def test_performance_is_zero_for_the_sample_and_one_for_gold(sample: float, gold: float) -> None:
    if abs(gold - sample) > 1e-6:
        assert normalised_score(sample, sample=sample, gold=gold) == 0
        assert normalised_score(gold, sample=sample, gold=gold) == pytest.approx(1)
    assert normalised_score(None, sample=sample, gold=gold) == 0


def test_the_probe_detects_prior_knowledge(tmp_path: Path) -> None:
    podium.prepare(TITANIC, data_dir=tmp_path, miniature=True)
    tasks = [resolve(TITANIC, data_dir=tmp_path)]
    known = probe(memorised(masked_facts(TITANIC, tasks[0].task.brief)), tasks, seed=3)
    assert known.is_known
    assert known.rows == ()  # of a miniature nobody can have seen the rows
    assert not probe(lambda question: "no idea", tasks, seed=3).is_known


def test_the_command_asks_a_served_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    podium.prepare(TITANIC, data_dir=tmp_path, miniature=True)
    answer = memorised(masked_facts(TITANIC, podium.load(TITANIC).brief))
    with serving(lambda request, rng: answer(text_of(request))) as server, pytest.raises(SystemExit, match="0"):
        args = ["integrity", "contamination", TITANIC, "--data-dir", str(tmp_path), "--seed", "4", "--json"]
        main([*args, "--model", "openai-api/podium/scripted", "--model-base-url", server.url])
    found = json.loads(capsys.readouterr().out)
    assert (found["is_known"], found["facts"]["control_hits"], found["seed"]) == (True, 0, 4)
    assert "no idea" in found["solutions"][TITANIC]


SENTENCE = "the quick brown fox"


def reciting(known: str) -> Callable[[Request, random.Random], Reply]:
    """Completes texts: one that it has seen is probable, word by word, any other is not."""

    def complete(request: Request, rng: random.Random) -> Reply:
        text = text_of(request)
        chance = 0.9 if text in known else 0.05
        assert (request["echo"], request["logprobs"], request["max_tokens"]) == (True, 10, 1)
        return Reply(text, logprobs=tuple((word, math.log(chance)) for word in (*text.split(), "end")))

    return complete


def token_command(*args: object) -> int:
    with pytest.raises(SystemExit) as stop:
        main(["integrity", "contamination", TITANIC, "--model", "base", "--token-probabilities", *map(str, args)])
    return int(stop.value.code or 0)


def test_a_memorised_brief_is_more_probable_than_forged_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    podium.prepare(TITANIC, data_dir=tmp_path, miniature=True)
    (tmp_path / "texts" / TITANIC).mkdir(parents=True)
    (tmp_path / "texts" / TITANIC / "post.txt").write_text(SENTENCE)
    args = ["--data-dir", tmp_path, "--seed", 4, "--texts", tmp_path / "texts"]
    with serving(reciting(f"{podium.load(TITANIC).brief} {SENTENCE}")) as server:
        assert token_command(*args, "--json", "--model-base-url", server.url) == 0
        found = json.loads(capsys.readouterr().out)
        assert token_command(*args, "--model-base-url", server.url) == 0
    (task,), forged = found["tasks"], found["control"]
    assert (task["texts"], forged["texts"]) == (2, 3)
    assert task["mean_probability"] == pytest.approx(0.9)
    assert forged["mean_probability"] == pytest.approx(0.05)
    assert task["min_k_plus_plus"] > forged["min_k_plus_plus"]
    assert "spaceship-titanic: mean probability 0.900" in capsys.readouterr().out


def test_a_server_without_probabilities_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    podium.prepare(TITANIC, data_dir=tmp_path, miniature=True)
    with serving(lambda request, rng: "a text") as server:
        assert token_command("--data-dir", tmp_path, "--model-base-url", server.url) == 1
        assert f"{server.url} returns no probabilities" in capsys.readouterr().err
    assert token_command("--data-dir", tmp_path) == 2
    assert "--model-base-url" in capsys.readouterr().err


def test_performance_counts_runs_without_a_score(caught: RunFolder, spaceship_data: Path) -> None:
    (score,) = performance(caught.experiment, [resolve(TITANIC, data_dir=spaceship_data)]).values()
    assert score == 0
