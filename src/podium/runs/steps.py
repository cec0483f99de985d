"""The steps of a run: reading them, comparing workspaces, restoring one, and forking a new run from one."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from podium.errors import UsageError
from podium.runs.experiment import FILE, now, read_experiment, run_folder
from podium.runs.record import Experiment, RunFolder, write_model
from podium.workspace.history import History
from podium.workspace.journal import Journal, read_journal


class Steps:
    """A run's steps, numbered from 1."""

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        self._journal = read_journal(run.journal)
        self._history = History(run.history, run.workspace)
        all_lines = ({"n": line.n, **line.fields} for line in self._journal)
        self.lines = [line for line in all_lines if line["kind"] == "step"]
        self._start = self._journal.read(1).fields

    def line(self, number: int) -> dict[str, Any]:
        """The journal's line of a step.

        Raises:
            UsageError: there is no such step.
        """
        if not 1 <= number <= len(self.lines):
            raise UsageError(f"{self._run.path} has {len(self.lines)} steps; there is no step {number}")
        return self.lines[number - 1]

    def observation(self, number: int) -> str:
        """What the agent saw after a step."""
        kept = self.line(number)["observation"]
        return kept if isinstance(kept, str) else self._history.get(kept["blob"]).decode("utf-8")

    def facts(self, line: dict[str, Any]) -> dict[str, Any]:
        """A line without what only resuming needs."""
        return {name: value for name, value in line.items() if name not in ("state", "decision")}

    def snapshot(self, number: int) -> str:
        """The workspace after a step; 0 is before the first."""
        commit: str = (self._start if number == 0 else self.line(number))["snapshot"]
        return commit

    def diff(self, number: int, *, since: int) -> str:
        """What changed in the workspace between two steps."""
        return self._history.diff(self.snapshot(since), self.snapshot(number))

    def restore(self, number: int, folder: Path) -> list[str]:
        """Writes the workspace after a step into a new folder; names what could not be."""
        if folder.exists():
            raise UsageError(f"{folder} is there already. Give a folder that is not.")
        return list(self._history.check_out(self.snapshot(number), folder).lost)

    def fork(self, number: int, experiment_folder: Path) -> Path:
        """Makes an experiment with a single run that shares this one's past up to a step."""
        last = self.line(number)
        if last["place"] != last["of"] - 1:
            raise UsageError(f"Step {number} is one of several done side by side; fork from the last of them")
        if experiment_folder.exists():
            raise UsageError(f"{experiment_folder} is there already. Give a folder that is not.")
        plan = read_experiment(self._run.path.parent.parent).plan
        task = self._start["task"]
        target = run_folder(experiment_folder, task, 0)
        target.path.mkdir(parents=True)
        shutil.copytree(self._run.history, target.history)
        copy_lines(self._run.journal, target.journal, last["n"])
        with Journal.open(target.journal) as journal:
            source = {"run": str(self._run.path.absolute()), "step": number}
            journal.append({"kind": "fork", "time": now(), "of": source, "used": last["used"]})
        experiment = Experiment(plan=plan, tasks=(task,), seeds=1, created=now())
        write_model(experiment_folder / FILE, experiment)
        return target.path

    def continuation(self, experiment_folder: Path) -> str:
        """The command that lets a fork go on."""
        return f"podium run {self._start['task']} --agent {self._start['agent']} --out {experiment_folder}"


def copy_lines(source: Path, target: Path, count: int) -> None:
    """Copies the first lines of a journal; their chain stays whole."""
    with source.open("rb") as lines, target.open("wb") as copy:
        for _ in range(count):
            copy.write(lines.readline())
