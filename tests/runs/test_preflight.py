"""Preflight checks report everything that would stop runs before anything is created."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from model_server import serving

from podium.catalog.registry import load
from podium.errors import NotPreparedError, PodiumError, UsageError
from podium.runs.experiment import open_experiment, read_experiment
from podium.runs.plan.preflight import check_models, check_packages, imported_packages, require_ready
from podium.runs.plan.start_experiment import make_plan, resume_experiment, start_experiment
from podium.runs.plan.trusted_plans import remember_plan
from podium.runs.records import Plan

TASK = "spaceship-titanic"


def test_imports_of_starter_code_are_checked(tmp_path: Path) -> None:
    text = "import os, numpy.linalg\nfrom torch import nn\nimport helper\nfrom . import x\n"
    (tmp_path / "train.py").write_text(text)
    (tmp_path / "helper.py").write_text("def late():\n    import tensorflow\n")
    assert imported_packages(tmp_path) == ["numpy", "torch"]
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").write_text("#!/bin/sh\necho torch\n")
    (tmp_path / "bin" / "python").chmod(0o755)
    (said,) = check_packages([load("CLRS")], Plan(agent="baseline", env=str(tmp_path)), tmp_path)
    assert f"The starter code of CLRS imports torch, missing from {tmp_path}" in said


def test_unusable_model_is_reported_with_the_reason(tmp_path: Path) -> None:
    (said,) = check_models([], Plan(agent="aide", model_roles={"coder": "nobody/model@http://localhost:9"}), tmp_path)
    assert said.startswith("The model nobody/model cannot be used: ")


def test_provider_settings_are_tested_before_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_API_KEY", "none")
    with serving(lambda request, rng: "ready") as server:
        plan = Plan(agent="aide", model="openai-api/podium/scripted", model_base_url=server.url)
        assert not list(check_models([], plan, tmp_path))
        wrong = plan.model_copy(update={"model_args": {"no_such_argument": "1"}})
        (said,) = check_models([], wrong, tmp_path)
    assert "no_such_argument" in said


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"agent": "recipes", "model": "openai/gpt-4o"}, "uses no model. Remove --model"),
        ({"model": "openai/gpt-4o"}, "uses no model"),
        ({"agent": "command", "options": {"command": "true"}, "model_base_url": "http://localhost"}, "Add --model"),
        (
            {"agent": "command", "options": {"command": "true"}, "model_args": {"a": "b"}},
            "-M requires a model. Add --model",
        ),
        ({"agent": "aide", "model": "openai/x", "model_args": {"api_key": "sk"}}, "Set the environment variable"),
        ({"agent": "aide", "model": "bedrock/x", "model_args": {"aws_secret_access_key": "k"}}, "-M aws_secret_access"),
    ],
)
def test_settings_without_effect_and_secrets_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make_plan([TASK], **settings)


def test_resuming_with_an_unusable_model_changes_nothing(tmp_path: Path) -> None:
    plan = Plan(agent="react", model="mockllm/model", miniature=True)
    remember_plan(plan)
    experiment = open_experiment(tmp_path / "out", plan, [TASK], seeds=1)
    with pytest.raises(PodiumError, match="The model nobody/model cannot be used: "):
        resume_experiment(experiment, {"model": "nobody/model"})
    assert read_experiment(tmp_path / "out").plan.model == "mockllm/model"


def test_all_problems_are_reported_together_and_nothing_is_written(tmp_path: Path) -> None:
    plan = Plan(agent="baseline", data_dir=tmp_path / "data", cores=4000, gpus=64)
    with pytest.raises(PodiumError, match=r"(?s)Fix 3 problems first:.*--cores 4000.*--gpus 64.*not prepared"):
        start_experiment([TASK], plan, out=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_local_resources_are_not_checked_for_a_cluster(tmp_path: Path) -> None:
    plan = Plan(agent="baseline", miniature=True, cores=4000)
    require_ready([TASK], plan, tmp_path / "out", local=False)
    with pytest.raises(NotPreparedError, match="or add --miniature"):
        require_ready([TASK], Plan(agent="baseline", data_dir=tmp_path), tmp_path / "out", local=False)
