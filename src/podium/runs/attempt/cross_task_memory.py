"""Cross-task memory: an agent's final states in the experiment's other runs.

States contain what agents saw and wrote. They never contain answers, because agents never see these.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from podium.catalog.registry import load
from podium.errors import PodiumError
from podium.runs.experiment import read_experiment
from podium.runs.run_folder import RunFolder
from podium.workspace.journal.events import Step

MAX_OTHER_RUNS = 30


def states_on_other_tasks(folder: RunFolder, task: str, agent: str) -> Iterator[tuple[str, str]]:
    """Yield the kind of each other task with a finished run, and the agent's last state there as JSON.

    Runs of the same task are excluded, so that its seeds stay independent of each other.
    """
    yield from islice(_states(folder, task, agent), MAX_OTHER_RUNS)


def _states(folder: RunFolder, task: str, agent: str) -> Iterator[tuple[str, str]]:
    try:
        runs = list(read_experiment(folder.experiment).runs())
    except PodiumError:  # a worker on another machine has only its own run
        return
    for run in runs:
        with suppress(PodiumError):  # a damaged run does not affect the others
            record = run.read_record()
            if record is None or (record.status, record.agent) != ("finished", agent) or record.task == task:
                continue
            if steps := run.read_journal().all_of(Step):
                with run.read_history() as history:
                    yield load(record.task).kind, history.get(steps[-1].state).decode()
