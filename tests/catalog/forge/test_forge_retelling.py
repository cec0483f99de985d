"""Families that draw in words of their own: each task is published in another story, with the same numbers."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from few import few

from podium.catalog.forge.families import FIXED_FAMILIES, TINY_FAMILIES, load_family
from podium.catalog.forge.family import ForgedData
from podium.catalog.forge.field import draw_data
from podium.catalog.forge.forge_ids import Difficulty, forge_id, parse_id
from podium.catalog.forge.secret import Secret
from podium.catalog.forge.world.retelling import Retelling, Telling, with_slips
from podium.catalog.registry import load

LONG_SENTENCE = 8
LARGEST_SHARE = 0.2
OWN_WORDS = re.compile(
    r"\b(shipments?|returned_|kilns?|firings?|potter\w*|guild|swimming|pools?|lifeguards?|canals?|locks?|"
    r"sherds?|eelgrass|sonar|wrack|parish\w*|hearths?|surety|trades?|gardene?r?s?|cooperative|reed|climber|warbler)\b",
    re.IGNORECASE,
)
"""Words of the stories that families have of their own."""


@dataclass(frozen=True)
class Retold:
    """A family's own draw, and the same retold as several tasks."""

    family: str
    retelling: Retelling
    own: ForgedData
    difficulty: Difficulty
    ids: list[str]
    told: list[ForgedData]


@pytest.fixture(scope="module", params=few(FIXED_FAMILIES, every=3))
def retold(request: pytest.FixtureRequest) -> Retold:
    name = str(request.param)
    module = import_module(f"podium.catalog.forge.families.{name.replace('-', '_')}")
    difficulty: Difficulty = "tiny" if name in TINY_FAMILIES else "hard"
    own = module.draw(np.random.default_rng(3), difficulty)
    ids = [
        *(str(forge_id(name, difficulty, seed)) for seed in range(8)),
        *(str(forge_id(name, difficulty, seed, training=True)) for seed in range(4)),
        *(str(forge_id(name, difficulty, Secret(bytes([number] * 20)))) for number in range(4)),
    ]
    tellings = [Telling(module.RETELLING, parse_id(task).words) for task in ids]
    return Retold(name, module.RETELLING, own, difficulty, ids, [one.retold(own, difficulty) for one in tellings])


def _names(forged: ForgedData) -> set[str]:
    tables = (forged.public.train, forged.public.test, *forged.public.tables.values())
    return {str(name) for table in tables for name in table}


def _long_sentences(brief: str) -> set[str]:
    sentences = re.split(r"[.!?;:]\s|\n|\|", brief)
    return {sentence.strip() for sentence in sentences if len(sentence.split()) > LONG_SENTENCE}


def test_two_tasks_share_few_names_and_no_long_sentence(retold: Retold) -> None:
    for one, other in itertools.combinations(retold.told, 2):
        names = _names(one), _names(other)
        assert len(names[0] & names[1]) < LARGEST_SHARE * min(map(len, names)), names[0] & names[1]
        assert not _long_sentences(one.brief) & _long_sentences(other.brief)
        assert not {*one.public.tables} & {*other.public.tables}


def test_a_brief_explains_every_file_and_column(retold: Retold) -> None:
    for forged in retold.told:
        folders = {f"{path.rpartition('/')[0]}/" for path in forged.public.payload}
        stems = {re.sub(r"\d+$", "1", name) if name not in forged.brief else name for name in _names(forged)}
        for name in (*stems, *forged.public.tables, *folders, *forged.sample):
            assert f"`{name}`" in forged.brief or f"`{name}<" in forged.brief, name


def test_nothing_published_has_the_family_s_own_words(retold: Retold) -> None:
    for forged in retold.told:
        frames = [forged.public.train, forged.public.test, forged.sample, *forged.public.tables.values()]
        texts = [forged.brief, *forged.public.tables, *forged.public.payload]
        texts += [frame.head(300).to_csv() for frame in frames]
        found = {match[0] for text in texts for match in OWN_WORDS.finditer(text)}
        assert not found - {"returned"}
        assert not {*map(str, retold.own.public.train)} & {*map(str, forged.public.train)} - {"id"}


def test_numbers_are_those_that_were_drawn_up_to_units(retold: Retold) -> None:
    for forged in retold.told[:3]:
        drawn, public = retold.own.public, forged.public
        pairs = [(drawn.train, public.train), (drawn.test, public.test), (retold.own.answers, forged.answers)]
        pairs += list(zip(drawn.tables.values(), public.tables.values(), strict=True))
        for own, told in pairs:
            assert own.shape == told.shape
            for before, after in zip(own, told, strict=True):
                _same_up_to_names_and_unit(own[before], told[after])
        for before, after in zip(drawn.payload.values(), public.payload.values(), strict=True):
            assert before is after


def _same_up_to_names_and_unit(own: pd.Series, told: pd.Series) -> None:
    assert (own.isna() == told.isna()).all()
    if pd.api.types.is_numeric_dtype(own):
        factor = (told / own).where(own != 0).median()
        assert np.allclose(told.dropna(), own.dropna() * (1 if np.isnan(factor) else factor), rtol=1e-3)
    else:
        assert (pd.factorize(own)[0] == pd.factorize(told)[0]).all()


def test_a_prediction_scores_the_same_in_both_words(retold: Retold) -> None:
    family = load_family(retold.family)
    for forged in retold.told[:3]:
        naive = family.tiny[0] if retold.difficulty == "tiny" else family.pipelines[0]
        for predict in (naive.predict, lambda data, rng: retold.own.ceiling):
            own = predict(retold.own.public, np.random.default_rng(0))
            told = forged.predict(predict, np.random.default_rng(0))
            truth = retold.own.answers.iloc[:, 1:].to_numpy()
            truth = truth if truth.shape[1] > 1 else truth[:, 0]
            assert family.score(forged, told) == pytest.approx(family.metric(truth, own))
        assert family.score(forged, forged.ceiling) == pytest.approx(family.score(forged, told))


def test_the_id_determines_the_form_of_a_submission(retold: Retold) -> None:
    for task, forged in zip(retold.ids, retold.told, strict=True):
        form = load(task).form
        assert [*form.ids, *form.targets] == list(forged.sample) == list(forged.answers)
        choices = getattr(form.values, "choices", None)
        assert not choices or set(forged.answers.iloc[:, -1]) <= set(choices)
    assert len({forged.sample.columns[0] for forged in retold.told}) > len(retold.told) / 2


@pytest.mark.parametrize("name", FIXED_FAMILIES)
def test_groups_and_labels_stay_apart_in_every_story(name: str) -> None:
    retelling = import_module(f"podium.catalog.forge.families.{name.replace('-', '_')}").RETELLING
    assert not {column.own for column in retelling.columns} & {
        *retelling.nouns,
        *(f"{noun}s" for noun in retelling.nouns),
    }
    for words in range(300):
        telling = Telling(retelling, words)
        for values in (*telling.values.values(), telling.names, telling.paths):
            assert len(set(values.values())) == len(values)


def test_one_id_has_one_story() -> None:
    family = load_family("tabular-classification")
    one, two = (draw_data(family, "tiny", 7) for _ in range(2))
    assert one.brief == two.brief
    assert one.public.train.equals(two.public.train)


def test_words_with_two_letters_swapped_become_the_other_word_with_a_slip() -> None:
    words = with_slips({"sluice": "granary"})
    assert words["sluice"] == "granary"
    assert sorted(words["slucie"]) == sorted("granary") and words["slucie"] != "granary"
