"""What an agent has come to on the other tasks of an experiment: its last state there, for lessons across tasks.

A state holds what the agent saw and wrote. Answers are in none, because no agent ever sees them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from podium.catalog import load
from podium.errors import PodiumError
from podium.runs.experiment import read_experiment
from podium.runs.run_folder import RunFolder
from podium.workspace.journal.events import Step

MOST_RUNS = 30


def states_on_other_tasks(folder: RunFolder, task: str, agent: str) -> Iterator[tuple[str, str]]:
    """The kinds of other tasks on which the agent has finished a run, with its last state as JSON.

    Runs of the same task are left out: its seeds stay independent of each other.
    """
    yield from islice(_states(folder, task, agent), MOST_RUNS)


def _states(folder: RunFolder, task: str, agent: str) -> Iterator[tuple[str, str]]:
    try:
        runs = list(read_experiment(folder.experiment).runs())
    except PodiumError:  # a worker on another machine has only its own run
        return
    for run in runs:
        with suppress(PodiumError):  # a damaged run is its own business
            record = run.read_record()
            if record is None or (record.status, record.agent) != ("finished", agent) or record.task == task:
                continue
            if steps := run.read_journal().all_of(Step):
                with run.read_history() as history:
                    yield load(record.task).kind, history.get(steps[-1].state).decode()
