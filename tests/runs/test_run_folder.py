"""Workspaces of runs have neutral names and are never shared between runs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from podium.errors import RecordError
from podium.runs.attempt.open_run import sandbox_spec
from podium.runs.records import Plan
from podium.runs.run_folder import WORKSPACES, RunFolder, workspaces_of
from podium.safefs.neutral_paths import remove_orphans


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "telling-name" / "task" / "0")
    folder.experiment.mkdir()
    folder.make()
    return folder


def test_workspace_path_reveals_neither_experiment_nor_task(run: RunFolder, tmp_path: Path) -> None:
    for path in (run.workspace, run.given):
        assert path.is_dir()
        assert path.parent.parent == tmp_path / WORKSPACES
    assert run.workspace.parent == run.given.parent
    assert RunFolder(run.path).workspace == run.workspace


def test_a_copied_run_gets_a_workspace_of_its_own(run: RunFolder) -> None:
    (run.workspace / "mine").touch()
    copy = RunFolder(run.experiment.with_name("copy") / "task" / "0")
    shutil.copytree(run.experiment, copy.experiment)
    assert list(copy.workspace.iterdir()) == []
    assert (run.workspace / "mine").exists()


def test_a_link_in_place_of_a_workspace_is_refused(run: RunFolder, tmp_path: Path) -> None:
    place, outside = run.workspace.parent, tmp_path / "outside"
    place.rename(outside)
    place.symlink_to(outside)
    with pytest.raises(RecordError, match="cannot be opened as a folder of its experiment"):
        _ = run.workspace


def test_workspaces_are_removed_with_their_runs(run: RunFolder) -> None:
    other = RunFolder(run.path.with_name("1"))
    other.make()
    gone, kept = run.workspace, other.workspace
    shutil.rmtree(run.path)
    remove_orphans(workspaces_of(run.experiment))
    assert not gone.exists()
    assert kept.is_dir()


def test_workspaces_are_inside_the_experiment_if_others_could_tamper(run: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / WORKSPACES).symlink_to(tmp_path / "elsewhere")
    assert run.workspace.is_relative_to(run.experiment / WORKSPACES)
    assert os.listdir(tmp_path / "elsewhere") == []  # noqa: PTH208


def test_concurrent_sandboxes_show_leasable_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podium.runs.attempt.open_run.usable_gpus", lambda: (1, 3, 4))
    shown = [sandbox_spec(Plan(agent="a", gpus=2), workspace=Path(f"/{number}")).gpus for number in range(20)]
    assert set(shown) == {(1, 3), (3, 4), (1, 4)}
    assert sandbox_spec(Plan(agent="a"), workspace=None).gpus == ()
