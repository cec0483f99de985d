"""`podium.Environment`: a task as an environment with `reset` and `step`, for training and for search over rollouts."""

from __future__ import annotations

import asyncio
import atexit
import tempfile
import threading
import weakref
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Self

from podium.actions import ACTIONS
from podium.catalog.registry import load
from podium.environment.episode import Episode, Turn
from podium.environment.rewards import EpisodeStanding, Reward, Transition, final_value
from podium.environment.step_policy import read_action
from podium.errors import PodiumError, UsageError
from podium.runs.attempt.grade_run import prepared_task
from podium.runs.experiment import MAX_RUNS, make_experiment, read_experiment
from podium.runs.plan.start_experiment import make_plan, prepare_missing
from podium.runs.records import ExperimentDocument
from podium.runs.steps import Steps
from podium.safefs.remove_tree import remove_tree
from podium.workspace.budget import Budget
from podium.workspace.journal.events import Action, now
from podium.workspace.journal.observations import Interruption

AGENT = "podium.environment.step_policy:StepPolicy"
OFFERED = (
    *("list_files", "read_file", "write_file", "append_file", "copy_file", "inspect_script_lines", "undo_edit_script"),
    *("execute_script", "run_command", "python_session", "validate_submission", "final_answer"),
)
"""Offered actions: they need no model, and their observations contain no times."""
DEFAULT_BUDGET = Budget(steps=50, time_s=3600.0)
_PROMPT = """{instructions}
DESCRIPTION
{brief}
ACTIONS
Each of your steps is one action, given as a JSON object: {{"action": NAME, "arguments": {{...}}}}

{actions}"""

GivenAction = Action | Mapping[str, Any] | str


class StepResult(NamedTuple):
    """Result of `step`, in Gymnasium's order."""

    observation: str
    reward: float
    terminated: bool
    """True if the agent has ended the episode with its final answer."""
    truncated: bool
    """True if the budget or an error has ended the episode."""
    info: dict[str, Any]
    """Information for the trainer, not for the agent: it may contain grades."""


class Environment:
    """Training environment. Each episode is a run on a task: sandboxed, journalled, budgeted and graded.

    Many environments can run in parallel; each has its own sandbox and thread, and all share the pool of cores.
    """

    def __init__(
        self,
        *,
        reward: Reward = final_value,
        budget: Budget = DEFAULT_BUDGET,
        out: str | PathLike[str] | None = None,
        **settings: Any,
    ) -> None:
        """
        Args:
            reward: reward function of a step; combine those in `podium.environment.rewards`.
            budget: budget of one episode.
            out: a folder that keeps every episode as an experiment; by default the next `reset` removes the episode.
            settings: other fields of the plan: `miniature`, `sandbox`, `env`, `limits`, `cores`, `data_dir`, ...
        """
        self.reward, self.budget, self.settings = reward, budget, settings
        self._out = None if out is None else Path(out).absolute()
        self._held = _Held()
        self._standing, self._steps, self._is_over, self._is_waiting = EpisodeStanding(), 0, True, False
        _open.add(self)
        weakref.finalize(self, _close_elsewhere, self._held).atexit = False

    @property
    def run(self) -> Path:
        """Return the folder of the current episode, a run for `podium steps`, `view`, `verify` and `export`."""
        return self._current().folder.path

    def reset(self, task: str, seed: int = 0) -> str:
        """Start an episode on a task and return its first observation: instructions, description and actions.

        Missing data of forged tasks is generated, as are miniatures if the settings request them.
        """
        return self._begun(self._begin(task, seed).result())

    async def reset_async(self, task: str, seed: int = 0) -> str:
        """Start an episode like `reset`, for asyncio."""
        begin = partial(self._begin, task, seed)
        return self._begun(await asyncio.wrap_future(await asyncio.to_thread(begin)))

    def step(self, action: GivenAction) -> StepResult:
        """Perform an action: an `Action`, a mapping with `action` and `arguments`, or JSON text of one.

        Anything else costs a step and gives an observation with the error.
        """
        wanted = read_action(action)
        return self._stepped(wanted, self._give(wanted).result())

    async def step_async(self, action: GivenAction) -> StepResult:
        """Perform an action like `step`, for asyncio. A cancelled call's step continues and blocks further steps."""
        wanted = read_action(action)
        return self._stepped(wanted, await asyncio.wrap_future(self._give(wanted)))

    def fork(self) -> Environment:
        """Return another environment in the same state, to continue from here in a different way.

        Files, budget and standing are the same. Background programs and the variables of a Python session are not
        copied.
        """
        episode = self._current()
        self._catch_up(episode)
        if self._is_over:
            raise UsageError("The episode has ended. Fork it before its last step.")
        other = Environment(reward=self.reward, budget=self.budget, out=self._out, **self.settings)
        if self._steps == 0:
            other.reset(episode.task, episode.seed)
            return other
        folder = other._new_folder(episode.task)
        Steps(episode.folder).fork(self._steps, folder, seed=episode.seed)
        begun = other._held.episode = Episode(
            read_experiment(folder), episode.task, episode.seed, kept=self._out is not None, standing=self._standing
        )
        other._begun(begun.turn.result())
        other._steps = self._steps
        return other

    def close(self) -> None:
        """End the current episode, if any, and remove its folder unless it is kept. Idempotent."""
        self._held.close()
        self._is_over, self._is_waiting = True, False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _current(self) -> Episode:
        if self._held.episode is None:
            raise UsageError("There is no episode. Call reset first.")
        return self._held.episode

    def _begin(self, task: str, seed: int) -> Future[Turn]:
        if not 0 <= seed < MAX_RUNS:
            raise UsageError(f"The seed must be an integer from 0 to {MAX_RUNS - 1}, not {seed}.")
        self.close()
        plan = make_plan([task], agent=AGENT, budget=self.budget, **self.settings)
        prepare_missing([task], plan)
        document = ExperimentDocument(plan=plan, tasks=(task,), seeds=seed + 1, created=now())
        experiment = make_experiment(self._new_folder(task), document)
        self._held.episode = Episode(experiment, task, seed, kept=self._out is not None)
        return self._held.episode.turn

    def _new_folder(self, task: str) -> Path:
        """Return the path of a new experiment, which does not exist yet."""
        if self._out is not None:
            self._out.mkdir(parents=True, exist_ok=True)
            return Path(tempfile.mkdtemp(prefix=f"{task}-", dir=self._out)) / "episode"
        self._held.temporary = Path(tempfile.mkdtemp(prefix="podium-episode-"))
        return self._held.temporary / "episode"

    def _begun(self, turn: Turn) -> str:
        episode = self._current()
        if turn.record is not None:
            raise PodiumError(f"The episode could not be started: {turn.ended_by}")
        self._standing, self._steps, self._is_over = turn.standing, 0, False
        prepared = prepared_task(episode.task, episode.plan)
        return _PROMPT.format(
            instructions=episode.instructions,
            brief=(prepared.place.public / "description.md").read_text(encoding="utf-8"),
            actions="\n\n".join(ACTIONS[name].prompt() for name in OFFERED),
        )

    def _give(self, action: Action) -> Future[Turn]:
        episode = self._current()
        self._catch_up(episode)
        if self._is_over:
            raise UsageError("The episode has ended. Call reset to start another.")
        self._is_waiting = True
        return episode.give(action)

    def _catch_up(self, episode: Episode) -> None:
        """Process the result of a step whose call was cancelled."""
        if not self._is_waiting:
            return
        if not episode.turn.done():
            raise UsageError("The last action is still running. Try again later, or call reset or close.")
        self._take_in(episode.turn.result())

    def _take_in(self, turn: Turn) -> None:
        self._standing, self._is_over, self._is_waiting = turn.standing, turn.ended_by is not None, False
        self._steps += 1

    def _stepped(self, action: Action, turn: Turn) -> StepResult:
        before = self._standing
        self._take_in(turn)
        higher = load(self._current().task).metric.higher_is_better
        observation = turn.observation or Interruption(cause=turn.ended_by or "the run")
        step = Transition(before, turn.standing, action, observation, self._is_over, higher)
        terminated = turn.ended_by == "the agent"
        return StepResult(
            observation.text, self.reward(step), terminated, self._is_over and not terminated, self._info(turn)
        )

    def _info(self, turn: Turn) -> dict[str, Any]:
        standing = turn.standing
        return {
            "valid": standing.valid,
            "milestones": sorted(standing.milestones),
            "grade": None if standing.grade is None else standing.grade.to_dict(),
            "ended_by": turn.ended_by,
            "error": None if turn.record is None else turn.record.error,
        }


@dataclass
class _Held:
    """Resources that an environment must release."""

    episode: Episode | None = None
    temporary: Path | None = None

    def close(self) -> None:
        if self.episode is not None:
            self.episode.close()
        if self.temporary is not None:
            remove_tree(self.temporary)
        self.episode = self.temporary = None


def _close_elsewhere(held: _Held) -> None:
    """Close unreachable resources in another thread: the garbage collector may run in the thread to be joined."""
    if held.episode is not None or held.temporary is not None:
        threading.Thread(target=held.close, name="podium-closing").start()


_open: weakref.WeakSet[Environment] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Close all environments that are still open at exit."""
    for environment in list(_open):
        environment.close()
