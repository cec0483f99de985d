"""Steps of a run: read them, compare workspaces, restore a workspace, and fork a new run."""

from __future__ import annotations

import os
from pathlib import Path

from podium.errors import UsageError
from podium.runs.experiment import make_experiment, read_experiment
from podium.runs.records import ExperimentDocument
from podium.runs.run_folder import RunFolder
from podium.text import plural
from podium.workspace.journal.events import Action, Fork, Step, now, read_full_action, read_full_observation
from podium.workspace.journal.journal import copy_lines
from podium.workspace.journal.observations import Observation


class Steps:
    """Steps of a run, numbered from 1."""

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        self._journal = run.read_journal()
        self._history = run.read_history()
        numbered = [(line.n, line.event) for line in self._journal.lines() if isinstance(line.event, Step)]
        self._lines = [n for n, _ in numbered]
        self.all = [step for _, step in numbered]

    @property
    def experiment(self) -> Path:
        """Return the folder of the run's experiment."""
        return self._run.experiment

    @property
    def miniature(self) -> bool:
        """Return whether the run used a miniature."""
        return self._journal.start.miniature

    def step(self, number: int) -> Step:
        """Return a step as journalled, with long texts shortened.

        Raises:
            UsageError: the step does not exist.
        """
        if not 1 <= number <= len(self.all):
            raise UsageError(f"{self._run.path} has {plural(len(self.all), 'step')}; step {number} does not exist.")
        return self.all[number - 1]

    def action(self, number: int) -> Action:
        """Return the complete action of a step."""
        return read_full_action(self.step(number), self._history.get)

    def observation(self, number: int) -> Observation:
        """Return the complete observation of a step."""
        return read_full_observation(self.step(number), self._history.get)

    def snapshot(self, number: int) -> str:
        """Return the snapshot of the workspace after a step; 0 is the state before the first."""
        return self._journal.start.snapshot if number == 0 else self.step(number).snapshot

    def diff(self, number: int, *, since: int) -> str:
        """Return the diff of the workspace between two steps."""
        return self._history.diff(self.snapshot(since), self.snapshot(number))

    def restore(self, number: int, folder: Path) -> list[str]:
        """Write the workspace after a step to a new folder, and return the files that could not be restored."""
        if os.path.lexists(folder):
            raise UsageError(f"{folder} already exists. Choose a new folder.")
        return list(self._history.check_out(self.snapshot(number), folder).lost)

    def export_git(self, folder: Path) -> int:
        """Write all snapshots to a new git repository; return the number of files that git refuses."""
        if os.path.lexists(folder):
            raise UsageError(f"{folder} already exists. Choose a new folder.")
        return self._history.export_git(self._journal.snapshot, folder)

    def fork(self, number: int, experiment_folder: Path, *, seed: int = 0) -> Path:
        """Create an experiment with one run that shares this run's history up to a step."""
        last = self.step(number)
        together = [n for n, step in enumerate(self.all, start=1) if step.decision == last.decision]
        if sum(n <= number for n in together) < last.count:  # parallel steps end, and are numbered, in any order
            raise UsageError(f"Step {number} ran in parallel with others. Fork from the last of them, {together[-1]}.")
        if os.path.lexists(experiment_folder):
            raise UsageError(f"{experiment_folder} already exists. Choose a new folder.")
        plan = read_experiment(self._run.experiment).plan
        task = self._journal.start.task
        document = ExperimentDocument(plan=plan, tasks=(task,), seeds=seed + 1, created=now())
        experiment = make_experiment(experiment_folder, document)
        target = experiment.run(task, seed)
        target.make()
        self._history.copy_to(target.history, last.snapshot)
        copy_lines(self._journal, target.journal, self._lines[number - 1])
        with target.open_journal() as journal:
            source = str(self._run.path.absolute())
            journal.append(Fork(time=now(), usage=last.usage, source_run=source, source_step=number, seed=seed))
        return target.path
