"""Agent `edits`: tries known edits on starter code and keeps the ones that improve its score.

The workspace always holds the best program so far. Each edit is tried on a copy of it (`inside/trial.py`) and kept if
it is better by more than the difference between two runs of the starter. Every known edit may change the output of a
program, so none applies to speed tasks: there, the unchanged starter code is submitted.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from podium.agents.base import Agent, Options, State
from podium.agents.edits.program_feedback import (
    EXAMPLES,
    SECONDS,
    Examples,
    find_examples,
    read_score,
    scores_of_examples,
    standard_error,
)
from podium.recipes.edits.edit import Edit, parse
from podium.recipes.edits.known_edits import known_edits
from podium.task import Starter
from podium.text import bounded, plural, printed_score
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import Observation, ProgramOutput

KIND_SPEED = "code speed"
FIRST_RUN = "Run the unchanged starter code."
SPEED_RUN = "Run the unchanged starter code: no known edit makes it faster."
FIRST_RUNS = 2
"""Number of runs of the unchanged starter; the difference of their scores is the noise."""
TRIAL_SHARE, TRIAL_MIN_S, TRIAL_FACTOR = 0.4, 30.0, 6.0
"""Time limits of a trial: a share of the remaining time, a minimum, and a multiple of the starter's time."""
ENDING_S = 3.0
END = "END-OF-THE-FILE"


class EditsOptions(Options):
    trials: int = Field(60, ge=1, description="Maximum number of edits to try.")


class Trial(BaseModel):
    """Result of trying an edit."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    score: float | None = None
    seconds: float | None = None
    problem: str = ""
    """Reason for a missing score."""
    examples: list[float] = Field(default_factory=list)
    """Scores of the solved examples, if the task has any."""


class BetterEdit(BaseModel):
    """Edit that is better than the program in the workspace and will replace it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str
    source: str
    score: float
    examples: list[float] = Field(default_factory=list)


class EditsState(State):
    """Trials so far and the current program."""

    trials: list[Trial] = Field(default_factory=list)
    tried: list[str] = Field(default_factory=list)
    """Hashes of all programs that were tried."""
    sources: dict[str, str] = Field(default_factory=dict)
    """Changed files, by name."""
    best: float | None = None
    best_examples: list[float] = Field(default_factory=list)
    better: BetterEdit | None = None


class Edits(Agent[EditsState]):
    """Improves starter code with known edits (missing models, other models, other settings), without a model."""

    Options = EditsOptions
    State = EditsState
    needs_starter = True
    options: EditsOptions

    def files(self) -> Path | None:
        return Path(__file__).parent / "inside"

    def headline(self, state: EditsState) -> str | None:
        if self._is_speed:
            return "unchanged starter code; no known edit applies"
        tried = plural(max(0, len(state.trials) - FIRST_RUNS), "edit")
        if state.best is None:
            return f"{tried} tried"
        return f"{self.assignment.task.metric.title} {state.best:.5g} ({tried} tried)"

    async def decide(self, state: EditsState) -> Sequence[Action]:
        if self.assignment.task.starter is None:
            return []
        if state.better is not None:
            return [self._keep(state.better)]
        edit = self._next(state)
        if edit is None or not self._has_room(state):
            return []
        return [self._try(edit, state)]

    def observe(self, state: EditsState, actions: Sequence[Action], observations: Sequence[Observation]) -> EditsState:
        state = state.model_copy(deep=True)
        [observation] = observations
        done = isinstance(observation, ProgramOutput) and observation.exit_code == 0
        if state.better is not None:
            if done:
                state.sources[state.better.file], state.best = state.better.source, state.better.score
                state.best_examples = state.better.examples
            else:
                state.tried.pop()  # a resumed run has a new sandbox, so the edit has to be tried again
            state.better = None
            return state
        edit = self._next(state)
        assert edit is not None
        trial = self._judge(edit, observation)
        if self._is_better(trial, state):
            assert trial.score is not None
            state.better = BetterEdit(file=edit.file, source=edit.source, score=trial.score, examples=trial.examples)
        state.trials.append(trial)
        state.tried.append(_digest(edit))
        return state

    @property
    def _starter(self) -> Starter:
        starter = self.assignment.task.starter
        assert starter is not None
        return starter

    @property
    def _is_speed(self) -> bool:
        return self.assignment.task.kind == KIND_SPEED

    @cached_property
    def _programs(self) -> dict[str, str]:
        """Return the editable files of the starter, the script first."""
        folder, script = self._starter.folder, self._starter.script
        names = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.py"))]
        free = [name for name in names if not any(Path(name).match(pattern) for pattern in self._starter.read_only)]
        ordered = sorted(free, key=lambda name: name != script)
        return {name: (folder / name).read_text(encoding="utf-8", errors="replace") for name in ordered}

    @cached_property
    def _examples(self) -> Examples | None:
        script = self._starter.script
        return find_examples(script, self._programs.get(script, ""), self.assignment.public)

    @cached_property
    def _max_epochs(self) -> int | None:
        limit = re.search(r"(?i)at most (\d+) epochs", self.assignment.task.brief)
        return int(limit[1]) if limit else None

    def _next(self, state: EditsState) -> Edit | None:
        """Return the starter as it stands, then the first untried edit of the current program."""
        script = self._starter.script
        runs, title = (1, SPEED_RUN) if self._is_speed else (FIRST_RUNS, FIRST_RUN)
        if len(state.trials) < runs and script in self._programs:
            return Edit(script, title, self._programs[script])
        tried = set(state.tried)
        return next((edit for edit in self._known(state) if _digest(edit) not in tried), None)

    def _known(self, state: EditsState) -> Iterator[Edit]:
        if self._is_speed:
            return
        has_score = state.best is not None
        for file, source in {**self._programs, **state.sources}.items():
            for edit in known_edits(file, source, has_score=has_score, max_epochs=self._max_epochs):
                if END not in edit.source:
                    yield edit

    def _has_room(self, state: EditsState) -> bool:
        """Return whether the remaining budget is enough for another trial and for keeping its result."""
        remaining = self.assignment.remaining()
        needed = ENDING_S + 1.2 * max((trial.seconds or 0.0 for trial in state.trials[:FIRST_RUNS]), default=0.0)
        enough = (remaining.steps is None or remaining.steps > 1) and (
            remaining.time_s is None or remaining.time_s > needed
        )
        return enough and len(state.trials) < self.options.trials + FIRST_RUNS

    def _try(self, edit: Edit, state: EditsState) -> Action:
        arguments = ["python", "agent/trial.py", "try", self._starter.script, edit.file, f"{self._time_s(state):.0f}"]
        if self._examples is not None:
            arguments += ["--examples", json.dumps(asdict(self._examples))]
        source = edit.source if edit.source.endswith("\n") else f"{edit.source}\n"
        command = f"# {' '.join(edit.title.split())}\n{shlex.join(arguments)} <<'{END}'\n{source}{END}"
        return Action(name="run_command", arguments={"command": command})

    def _keep(self, better: BetterEdit) -> Action:
        """Return the action that replaces the program in the workspace with the last trial and its output files."""
        names = [name.rstrip("/") for name in self.assignment.task.submission.names if name not in ("./", better.file)]
        command = shlex.join(["python", "agent/trial.py", "keep", better.file, *names])
        return Action(name="run_command", arguments={"command": f"# Keep this edit.\n{command}"})

    def _time_s(self, state: EditsState) -> float:
        """Return the time limit of a trial."""
        left = self.assignment.remaining().time_s
        usual = max((trial.seconds or 0.0 for trial in state.trials[:FIRST_RUNS]), default=0.0)
        limit = max(TRIAL_MIN_S, TRIAL_FACTOR * usual) if usual else 3600.0
        return limit if left is None else max(1.0, min(limit, TRIAL_SHARE * left if usual else left - ENDING_S))

    def _judge(self, edit: Edit, observation: Observation) -> Trial:
        """Return the result of a trial."""
        if not isinstance(observation, ProgramOutput):
            return Trial(title=edit.title, problem=bounded(observation.text, 300))
        if observation.exit_code != 0:
            errors = observation.stderr.strip().splitlines() or [f"exit code {observation.exit_code}"]
            return Trial(title=edit.title, problem=bounded(observation.stopped or errors[-1], 300))
        score = self._score(observation.stdout)
        seconds = printed_score(observation.stderr, SECONDS)
        problem = "" if score is not None else "The program printed no score."
        examples = scores_of_examples(observation.stdout) if self._examples else []
        return Trial(title=edit.title, score=score, seconds=seconds, problem=problem, examples=examples)

    def _score(self, output: str) -> float | None:
        if self._is_speed:
            return 1.0  # the speed-up of the starter itself, which is the only program
        if self._examples is not None:
            return printed_score(output, EXAMPLES)
        return read_score(output, self.assignment.task)

    def _is_better(self, trial: Trial, state: EditsState) -> bool:
        """Return whether a trial beats the program in the workspace by more than the noise."""
        if trial.score is None:
            return False
        if state.best is None:
            return True
        scores = [first.score for first in state.trials[:FIRST_RUNS] if first.score is not None]
        noise = abs(scores[0] - scores[1]) if len(scores) == FIRST_RUNS else 0.0
        noise = max(noise, standard_error(trial.examples, state.best_examples))
        gain = trial.score - state.best if self.assignment.task.metric.higher_is_better else state.best - trial.score
        return gain > noise


def _digest(edit: Edit) -> str:
    """Return a hash of a program that ignores its imports and layout."""
    tree = parse(edit.source)
    body = [line for line in tree.body if not isinstance(line, ast.Import | ast.ImportFrom)] if tree else []
    text = "\n".join(map(ast.dump, body)) or edit.source
    return hashlib.sha256(f"{edit.file}\n{text}".encode()).hexdigest()[:16]
