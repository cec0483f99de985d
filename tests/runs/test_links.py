"""A stranger's run folder: a link in it is refused, wherever it stands, and nothing outside is touched."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest

from podium.errors import RecordError
from podium.runs.attempt.grade_run import prepared_task
from podium.runs.attempt.open_run import open_run
from podium.runs.attempt.progress_files import Reporter
from podium.runs.experiment import read_experiment


def resume(folder: Path) -> None:
    """Perform what processes that resume runs do before they open a sandbox."""
    experiment = read_experiment(folder)
    prepared = prepared_task(experiment.tasks[0], experiment.plan)
    for seed in range(experiment.seeds):
        run = experiment.run(prepared.task.id, seed)
        run.make()
        run.read_record()
        with Reporter(run) as reporter:
            context = open_run(run, experiment.plan, prepared, seed, reporter=reporter, stop=threading.Event())
        context.journal.close()
        context.history.close()


def content(path: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return the state that would show a write or a removal."""
    inside = [path, *sorted(path.rglob("*"))]
    facts = ((each, each.lstat()) for each in inside)
    return {str(each): (fact.st_mtime_ns, fact.st_mode, _bytes(each)) for each, fact in facts}


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def parts(folder: Path) -> list[str]:
    """Every path of an experiment."""
    return [str(path.relative_to(folder)) for path in sorted(folder.rglob("*"))]


def test_a_link_at_any_path_is_refused(finished: Path, tmp_path: Path) -> None:
    honest = shutil.copytree(finished, tmp_path / "honest")
    resume(honest)
    names = parts(honest)
    assert {"experiment.json", "spaceship-titanic/0/history/segments"} < set(names)
    for name in names:
        copy, outside = shutil.copytree(honest, tmp_path / "copy"), tmp_path / "outside"
        (copy / name).rename(outside)
        (copy / name).symlink_to(outside)
        before = content(outside)
        with pytest.raises(RecordError, match=r"experiment\.json|must be a folder inside the experiment|is a link"):
            resume(copy)
        assert content(outside) == before, name
        shutil.rmtree(copy)
        shutil.rmtree(outside) if outside.is_dir() else outside.unlink()


@pytest.mark.parametrize("part", ["", "/history/segments", "/submission.csv", "/logs", "/steps.jsonl"])
def test_a_pipe_is_refused_without_waiting_for_it(finished: Path, tmp_path: Path, part: str) -> None:
    copy = shutil.copytree(finished, tmp_path / "copy")
    path = Path(f"{copy}/spaceship-titanic/0{part}")
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    os.mkfifo(path)
    with pytest.raises(RecordError, match=r"neither a file nor a folder|must be a folder inside the experiment"):
        resume(copy)
