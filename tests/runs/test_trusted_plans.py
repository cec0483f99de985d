"""Only plans that were made here, or are trusted explicitly, are executed."""

from __future__ import annotations

from pathlib import Path

import pytest

from podium.cli import main
from podium.errors import UsageError
from podium.runs.experiment import make_experiment, open_experiment, read_experiment
from podium.runs.plan.start_experiment import resume_experiment
from podium.runs.plan.trusted_plans import is_known_plan, own_data_dir
from podium.runs.records import ExperimentDocument, Plan

TASK = "spaceship-titanic"
NOW = "2026-01-01T00:00:00+00:00"


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """An experiment that came from elsewhere."""
    plan = Plan(
        agent="command", options={"command": f"touch {tmp_path}/ran"}, sandbox="none", data_dir=tmp_path / "theirs"
    )
    document = ExperimentDocument(plan=plan, tasks=(TASK,), seeds=1, created=NOW)
    return make_experiment(tmp_path / "foreign", document).folder


def test_plan_from_elsewhere_is_not_executed(foreign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["resume", str(foreign)])
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert "was not started on this machine" in said
    assert "sandbox none" in said
    assert "touch" in said
    assert not (foreign / TASK).exists()
    assert not (foreign.parent / "ran").exists()


def test_trusted_plan_uses_replaced_host_settings(foreign: Path, tmp_path: Path) -> None:
    experiment = resume_experiment(read_experiment(foreign), {"data_dir": tmp_path / "mine"}, trust=True)
    assert experiment.plan.data_dir == tmp_path / "mine"
    assert [change.name for change in experiment.document.changes] == ["data_dir"]
    assert is_known_plan(read_experiment(foreign).plan)
    resume_experiment(read_experiment(foreign), {})


def test_a_changed_plan_is_another_plan(tmp_path: Path) -> None:
    plan = Plan(agent="baseline", data_dir=tmp_path / "mine")
    experiment = open_experiment(tmp_path / "made", plan, [TASK], 1)
    assert own_data_dir(experiment.plan) == tmp_path / "mine"
    changed = plan.model_copy(update={"data_dir": tmp_path / "theirs"})
    assert own_data_dir(changed) is None
    file = tmp_path / "made" / "experiment.json"
    file.write_text(file.read_text().replace("bubblewrap", "none"))
    with pytest.raises(UsageError, match="sandbox none"):
        resume_experiment(read_experiment(tmp_path / "made"), {})
