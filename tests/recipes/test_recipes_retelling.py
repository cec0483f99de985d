"""Recipes go by structure: they see the same in a forged task whatever its story calls things."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from few import few

from podium.catalog.forge.families import FIXED_FAMILIES, load_family
from podium.catalog.forge.family import ForgedData
from podium.catalog.forge.forge_ids import forge_id
from podium.catalog.forge.forged_data import write_public
from podium.catalog.forge.world.retelling import Telling
from podium.recipes.kinds import ranking_recipes
from podium.tables.profile import Profile
from podium.tables.profile_task import profile_task


def _profile(name: str, forged: ForgedData, public: Path) -> Profile:
    public.mkdir()
    write_public(forged, public)
    family = load_family(name)
    form, brief = family.form_of(forged), forged.brief
    sample = "sample_submission.csv"
    return profile_task(public, brief=brief, metric=family.metric, sample=sample, ids=form.ids, targets=form.targets)


def _structure(profile: Profile) -> dict[str, Any]:
    log = ranking_recipes.find_log(profile)
    return {
        "what": (profile.modality, profile.goal, profile.is_wide, len(profile.classes), profile.warnings),
        "features": [(column.kind, column.is_code) for column in profile.features],
        "order": (profile.time is not None, profile.is_series, len(profile.series)),
        "joins": sorted(len(join.on) for join in profile.joins),
        "tables": (len(profile.tables), len(profile.spans), profile.edges is not None),
        "files": profile.file_patterns is not None,
        "log": log and (log.kind is not None, log.users is not None, log.items is not None),
    }


@pytest.mark.parametrize("name", few(FIXED_FAMILIES, every=3))
def test_a_retold_task_is_profiled_as_in_its_family_s_own_words(name: str, tmp_path: Path) -> None:
    module = import_module(f"podium.catalog.forge.families.{name.replace('-', '_')}")
    own = module.draw(np.random.default_rng(3), "hard")
    told = Telling(module.RETELLING, forge_id(name, "hard", 3).words).retold(own, "hard")
    profiles = [_profile(name, forged, tmp_path / kind) for kind, forged in (("own", own), ("told", told))]
    assert _structure(profiles[0]) == _structure(profiles[1])
    if profiles[1].file_patterns:
        assert "train" in profiles[1].file_patterns.train and "test" in profiles[1].file_patterns.test
        assert not any(word in profiles[1].file_patterns.train for word in ("mask", "annotation"))
    if name == "ranking":
        goal = ranking_recipes.goal_sentence(told.brief)
        assert ranking_recipes.forecast_days(told.brief) == 28
        assert sum(kind[:4] in goal for kind in told.public.train.iloc[:, 3].unique()) == 1
