"""Episode: a run in its own thread, whose actions come from outside."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

import anyio

from podium.agents.base import Assignment, Options
from podium.catalog.forge.forge_ids import is_training_task
from podium.environment.rewards import EpisodeStanding
from podium.environment.step_policy import StepPolicy
from podium.environment.step_progress import ProgressGrader
from podium.inspect_internals import as_sample
from podium.runs.attempt.attempt import run_attempt
from podium.runs.attempt.inspect_eval import Evaluated, grade_work, work_in_sandbox
from podium.runs.attempt.open_run import RunContext
from podium.runs.experiment import Experiment
from podium.runs.records import RunRecord
from podium.runs.run_folder import RunFolder
from podium.sandbox.backend import find_backend
from podium.sandbox.inspect_provider import PodiumSandbox
from podium.workspace.journal.events import Action, Step, read_full_observation
from podium.workspace.journal.observations import Observation

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Turn:
    """State of an episode when the next action can be given, or when it has ended."""

    standing: EpisodeStanding
    observation: Observation | None = None
    """Observation of the last action; None before the first."""
    ended_by: str | None = None
    """Cause of the episode's end; None while it continues."""
    record: RunRecord | None = None
    """Record of an ended episode."""


class Episode:
    """A run in its own thread. The future `turn` resolves when the next action can be given."""

    def __init__(
        self, experiment: Experiment, task: str, seed: int, *, kept: bool, standing: EpisodeStanding | None = None
    ) -> None:
        """
        Args:
            experiment: experiment of the episode; its run may have a history if it was forked.
            kept: the folder is kept, and writes are synced to disk.
            standing: standing at the end of that history.
        """
        self.task, self.seed, self.plan = task, seed, experiment.plan
        self.folder = RunFolder(experiment.run(task, seed).path, durable=kept)
        self.folder.make()
        self.instructions = ""
        self.turn = _promised()
        self._end: Turn | Exception | None = None
        self._ending = threading.Lock()
        self._standing, self._judge = (
            standing or EpisodeStanding(),
            ProgressGrader(knows_answers=is_training_task(task)),
        )
        self._stop = threading.Event()
        self._policy: StepPolicy | None = None
        self._thread = threading.Thread(target=self._attempt, name="podium-episode", daemon=True)
        self._thread.start()

    def give(self, action: Action) -> Future[Turn]:
        """Pass an action; the returned turn resolves when it has been performed."""
        assert self._policy is not None and self.turn.done(), "the last action is still running"
        with self._ending:
            self.turn = _promised()
            if self._end is not None:  # for example, the time ran out before this action
                _keep(self.turn, self._end)
        self._policy.give(action)
        return self.turn

    def close(self) -> None:
        """End the episode; unless it has ended by itself, its run counts as stopped and is not graded."""
        self._stop.set()
        while self._thread.is_alive():
            if self._policy is not None:
                self._policy.give(None)
            self._thread.join(0.05)

    def _attempt(self) -> None:
        try:
            record = run_attempt(self.folder, self.plan, self.task, self.seed, stop=self._stop, evaluate=self._evaluate)
            ended_by = record.ended_by or record.error or "an error"
            observation = None if self.turn.done() else self._last_observation()
            self._finish(Turn(self._standing, observation, ended_by, record))
        except Exception as error:
            logger.exception("An episode failed.")
            self._finish(error)

    def _finish(self, end: Turn | Exception) -> None:
        """Resolve the current turn, or the one of the next action."""
        with self._ending:
            self._end = end
            if not self.turn.done():
                _keep(self.turn, end)

    def _evaluate(self, context: RunContext, before_grading: Callable[[], None]) -> Evaluated:
        evaluated = Evaluated()
        self.instructions = context.instructions
        try:
            anyio.run(self._work, context, evaluated, before_grading)
        except Exception as error:
            raise evaluated.failure or error from error
        return evaluated

    async def _work(self, context: RunContext, evaluated: Evaluated, before_grading: Callable[[], None]) -> None:
        with find_backend(context.plan.sandbox).open(context.spec) as sandbox:
            box = PodiumSandbox(sandbox)
            with as_sample(box):
                await work_in_sandbox(context, evaluated, box, partial(self._make_policy, context))
        await grade_work(context, evaluated, before_grading)
        if evaluated.grade is not None:
            self._standing = self._judge(context, self._standing, grade=evaluated.grade)

    def _make_policy(self, context: RunContext, assignment: Assignment) -> StepPolicy:
        def ready(observation: Observation | None) -> None:
            self._standing = self._judge(context, self._standing, observation)
            self.turn.set_result(Turn(self._standing, observation))

        self._policy = StepPolicy(assignment, Options(), ready)
        return self._policy

    def _last_observation(self) -> Observation | None:
        """Return the last observation in the journal, because a policy does not observe its episode's end."""
        steps = self.folder.read_journal().all_of(Step)
        with self.folder.read_history() as history:
            return read_full_observation(steps[-1], history.get) if steps else None


def _promised() -> Future[Turn]:
    """Return an uncancellable future: `asyncio.wait_for` then cancels only its own waiting."""
    turn: Future[Turn] = Future()
    turn.set_running_or_notify_cancel()
    return turn


def _keep(turn: Future[Turn], end: Turn | Exception) -> None:
    if isinstance(end, Turn):
        turn.set_result(end)
    else:
        turn.set_exception(end)
