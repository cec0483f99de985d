"""The batch script of `podium cluster slurm` on a real Slurm of this machine, which `make test-slurm` starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from driving import verified
from running import TASK, write_script

from podium.runs.experiment import read_experiment
from podium.workspace.journal.journal import read_journal

pytestmark = pytest.mark.slurm


def test_second_batch_job_has_nothing_left_to_run(tmp_path: Path, data_dir: Path, perfect: str) -> None:
    actions = [("write_file", {"file_name": "submission/submission.csv", "content": perfect})]
    script = write_script(tmp_path / "script.json", actions)
    words = ["run", TASK, "--miniature", "--data-dir", str(data_dir), "--agent", "scripted", "-A", f"script={script}"]
    setup = f"export PATH={Path(sys.executable).parent}:$PATH"
    options = ["--nodes", "1", "--time", "20m", "--cores", "2", "--setup", setup]
    command = ["podium", "cluster", "slurm", *options, "--", *words, "--seeds", "2", "--out", str(tmp_path / "out")]
    made = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=True)
    (tmp_path / "job.sh").write_text(made.stdout)
    for _ in range(2):
        log = tmp_path / "job.log"
        sent = subprocess.run(["sbatch", "--wait", f"--output={log}", tmp_path / "job.sh"], check=False)
        assert sent.returncode == 0, log.read_text()
    experiment = read_experiment(tmp_path / "out")
    assert [record.status for record in experiment.records()] == ["finished"] * 2
    for run in experiment.runs():
        assert all(event.kind != "resume" for event in read_journal(run.journal))
        assert verified(run).passed
