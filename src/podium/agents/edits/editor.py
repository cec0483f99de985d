"""The agent `edits`: tries known edits on starter code and keeps what the task's own feedback says is better.

The workspace always holds the best program so far. Each edit is tried on a copy of it (`inside/trial.py`); one that is
better by more than two runs of the starter differ is put in its place, and the next edits are made to that.
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

from podium.actions.text import bounded
from podium.agents.base import Agent, Options, State
from podium.agents.edits.feedback import (
    EXAMPLES,
    SECONDS,
    SPEED,
    Examples,
    find_examples,
    read_score,
    scores_of_examples,
    standard_error,
)
from podium.catalog.folder import printed_score
from podium.recipes.edits.catalogue import known_edits
from podium.recipes.edits.edit import Edit, parse
from podium.task import Starter
from podium.text import plural
from podium.workspace.events import Action
from podium.workspace.observations import Observation, ProgramOutput

KIND_SPEED = "code speed"
FIRST_RUNS = 2
"""How often the starter is run before it is changed: the difference is what counts as noise."""
FASTER = 1.05
"""A speed-up below that is not worth another program."""
TRIAL_SHARE, TRIAL_LEAST_S, TRIAL_FACTOR = 0.4, 30.0, 6.0
"""A trial may take that part of the remaining time, and so many times as long as the starter."""
ENDING_S = 3.0
END = "END-OF-THE-FILE"


class EditsOptions(Options):
    trials: int = Field(60, ge=1, description="How many edits are tried at most.")


class Trial(BaseModel):
    """An edit that was tried."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    score: float | None = None
    seconds: float | None = None
    problem: str = ""
    """Why there is no score."""
    examples: list[float] = Field(default_factory=list)
    """The scores of single examples, where there are any."""


class BetterEdit(BaseModel):
    """An edit that is better than the program in the workspace, and has to be put there."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str
    source: str
    score: float
    examples: list[float] = Field(default_factory=list)


class EditsState(State):
    """What was tried, and the program as it stands."""

    trials: list[Trial] = Field(default_factory=list)
    tried: list[str] = Field(default_factory=list)
    """Hashes of the files that were tried."""
    sources: dict[str, str] = Field(default_factory=dict)
    """Files that differ from the starter's."""
    best: float | None = None
    best_examples: list[float] = Field(default_factory=list)
    found: BetterEdit | None = None


class Edits(Agent[EditsState]):
    """Improves starter code with known edits (whole arrays, other models, other settings), and needs no model."""

    Options = EditsOptions
    State = EditsState
    needs_starter = True
    options: EditsOptions

    def files(self) -> Path | None:
        return Path(__file__).parent / "inside"

    def headline(self, state: EditsState) -> str | None:
        tried = plural(max(0, len(state.trials) - FIRST_RUNS), "edit")
        if state.best is None:
            return f"{tried} tried"
        title = "Speed-up" if self._is_speed else self.assignment.task.metric.title
        return f"{title} {state.best:.5g} ({tried} tried)"

    async def decide(self, state: EditsState) -> Sequence[Action]:
        if self.assignment.task.starter is None:
            return []
        if state.found is not None:
            return [self._keep(state.found)]
        edit = self._next(state)
        if edit is None or not self._has_room(state):
            return []
        return [self._try(edit, state)]

    def observe(self, state: EditsState, actions: Sequence[Action], observations: Sequence[Observation]) -> EditsState:
        state = state.model_copy(deep=True)
        [observation] = observations
        done = isinstance(observation, ProgramOutput) and observation.exit_code == 0
        if state.found is not None:
            if done:
                state.sources[state.found.file], state.best = state.found.source, state.found.score
                state.best_examples = state.found.examples
            else:
                state.tried.pop()  # a resumed run has a new sandbox, in which it has to be tried again
            state.found = None
            return state
        edit = self._next(state)
        assert edit is not None
        trial = self._judge(edit, observation)
        if self._is_better(trial, state):
            assert trial.score is not None
            score = trial.score * (state.best or 1.0) if self._is_speed else trial.score
            state.found = BetterEdit(file=edit.file, source=edit.source, score=score, examples=trial.examples)
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
        """The files of the starter that may be changed, the script first."""
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
    def _most_epochs(self) -> int | None:
        limit = re.search(r"(?i)at most (\d+) epochs", self.assignment.task.brief)
        return int(limit[1]) if limit else None

    def _next(self, state: EditsState) -> Edit | None:
        """The starter as it stands, then the first known edit of the program as it is now that was not tried."""
        script = self._starter.script
        first = 1 if self._is_speed else FIRST_RUNS
        if len(state.trials) < first and script in self._programs:
            return Edit(script, "Run the starter code as it stands.", self._programs[script])
        tried = set(state.tried)
        return next((edit for edit in self._known(state) if _digest(edit) not in tried), None)

    def _known(self, state: EditsState) -> Iterator[Edit]:
        has_score = state.best is not None
        for file, source in {**self._programs, **state.sources}.items():
            for edit in known_edits(
                file, source, for_speed=self._is_speed, has_score=has_score, most_epochs=self._most_epochs
            ):
                if END not in edit.source:
                    yield edit

    def _has_room(self, state: EditsState) -> bool:
        """Whether there is enough left of the budget for another trial and for keeping it."""
        remaining = self.assignment.remaining()
        needed = ENDING_S + 1.2 * max((trial.seconds or 0.0 for trial in state.trials[:FIRST_RUNS]), default=0.0)
        enough = (remaining.steps is None or remaining.steps > 1) and (
            remaining.time_s is None or remaining.time_s > needed
        )
        return enough and len(state.trials) < self.options.trials + FIRST_RUNS

    def _try(self, edit: Edit, state: EditsState) -> Action:
        words = ["python", "agent/trial.py", "try", self._starter.script, edit.file, f"{self._time_s(state):.0f}"]
        if edit.functions:
            words += ["--same", *edit.functions]
        elif self._examples is not None:
            words += ["--examples", json.dumps(asdict(self._examples))]
        source = edit.source if edit.source.endswith("\n") else f"{edit.source}\n"
        command = f"# {' '.join(edit.title.split())}\n{shlex.join(words)} <<'{END}'\n{source}{END}"
        return Action(name="run_command", arguments={"command": command})

    def _keep(self, found: BetterEdit) -> Action:
        """Puts a program that was tried last, and what it left, in the place of the one before."""
        task = self.assignment.task
        names = [found.file, *(name.rstrip("/") for name in task.submission.names if name not in ("./", found.file))]
        command = shlex.join(["python", "agent/trial.py", "keep", *names])
        return Action(name="run_command", arguments={"command": f"# Keep it.\n{command}"})

    def _time_s(self, state: EditsState) -> float:
        """How long a trial may take."""
        left = self.assignment.remaining().time_s
        usual = max((trial.seconds or 0.0 for trial in state.trials[:FIRST_RUNS]), default=0.0)
        wanted = max(TRIAL_LEAST_S, TRIAL_FACTOR * usual) if usual else 3600.0
        return wanted if left is None else max(1.0, min(wanted, TRIAL_SHARE * left if usual else left - ENDING_S))

    def _judge(self, edit: Edit, observation: Observation) -> Trial:
        """What came of a trial."""
        if not isinstance(observation, ProgramOutput):
            return Trial(title=edit.title, problem=bounded(observation.text, 300))
        if observation.exit_code != 0:
            said = observation.stderr.strip().splitlines() or [f"exit code {observation.exit_code}"]
            return Trial(title=edit.title, problem=bounded(observation.stopped or said[-1], 300))
        score = self._score(edit, observation.stdout)
        seconds = printed_score(observation.stderr, SECONDS)
        problem = "" if score is not None else "it printed no score"
        examples = scores_of_examples(observation.stdout) if self._examples else []
        return Trial(title=edit.title, score=score, seconds=seconds, problem=problem, examples=examples)

    def _score(self, edit: Edit, output: str) -> float | None:
        if self._is_speed:
            return printed_score(output, SPEED) if edit.functions else 1.0
        if self._examples is not None:
            return printed_score(output, EXAMPLES)
        return read_score(output, self.assignment.task)

    def _is_better(self, trial: Trial, state: EditsState) -> bool:
        """Whether a trial is better than the program in the workspace by more than runs of the starter differ."""
        if trial.score is None:
            return False
        if self._is_speed:
            return state.best is None or trial.score > FASTER
        if state.best is None:
            return True
        scores = [first.score for first in state.trials[:FIRST_RUNS] if first.score is not None]
        noise = abs(scores[0] - scores[1]) if len(scores) == FIRST_RUNS else 0.0
        noise = max(noise, standard_error(trial.examples, state.best_examples))
        gain = trial.score - state.best if self.assignment.task.metric.higher_is_better else state.best - trial.score
        return gain > noise


def _digest(edit: Edit) -> str:
    """What tells programs apart, whatever they import and however they are laid out."""
    tree = parse(edit.source)
    body = [line for line in tree.body if not isinstance(line, ast.Import | ast.ImportFrom)] if tree else []
    text = "\n".join(map(ast.dump, body)) or edit.source
    return hashlib.sha256(f"{edit.file}\n{text}".encode()).hexdigest()[:16]
