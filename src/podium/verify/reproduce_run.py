"""Reproduction: runs the code behind a submission again, in a fresh sandbox, from public data alone.

The journal determines the code: the winning script of a search; otherwise the program that last changed the submission,
with the files that the agent had written; if that fails, every program before it too; or a script declared by the
agent, /home/code/reproduce.sh. No model is called. Then the code runs on scrambled data: a submission that stays the
same was not computed from the data. A submission that is a program is run itself.
"""

from __future__ import annotations

import io
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from podium.errors import PodiumError, RecordError
from podium.grading.prepared_task import PreparedTask
from podium.leases import default_pool
from podium.runs.attempt.grade_run import grade_snapshot
from podium.runs.attempt.open_run import instructions
from podium.runs.run_folder import RunFolder
from podium.sandbox.backend import Sandbox, find_backend
from podium.sandbox.spec import HOME, SandboxSpec
from podium.task import SUBMISSION
from podium.verify.check_grade import OwnData
from podium.verify.replay_programs import COPIES, PROGRAM_ACTIONS, SESSION, Programs, action_name
from podium.verify.run_evidence import Evidence, read_evidence
from podium.verify.scrambled_data import SAMPLE, scramble
from podium.workspace import layout
from podium.workspace.history.history import History
from podium.workspace.journal.events import Action, Step, read_full_action

Agreement = Literal["identical", "equivalent", "different", "not reproducible"]
DECLARED = "code/reproduce.sh"
DAY_S = 24 * 3600.0
MAX_FILE_BYTES = 16 << 20
"""Maximum size of a code file; larger files of the agent are ignored."""
MAX_KEPT_BYTES = 1 << 30
"""Maximum size of all code files: a stranger's snapshot may contain the same file many times."""
MIN_EQUAL_SHARE = 0.99
"""Minimum share of equal rows for two submissions to count as the same."""


@dataclass
class Reproduction:
    """Result of running the code of a submission again."""

    outcome: Agreement
    detail: str
    recipe: str = ""
    """Replayed code: the winning script, the last program, every program, or the declared script."""
    score: float | str | None = None
    """Score in the record."""
    scores: list[float | None] = field(default_factory=list)
    """Scores of the repetitions."""
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class ReplayPlan:
    """Steps to repeat, and files that the agent had written before them."""

    name: str
    steps: tuple[tuple[Action | None, Mapping[str, bytes]], ...]
    """Actions, each with the files to write into the workspace before it."""


def reproduce(
    run: RunFolder, *, data_dir: Path | None = None, env: Path | None = None, repeats: int = 3
) -> Reproduction:
    """Run the code behind a run's submission again.

    Args:
        data_dir: this machine's data folder if not the default.
        env: the Python environment in the sandbox; None for the one that runs Podium.
        repeats: maximum number of runs, to measure how much the results vary.

    Raises:
        PodiumError: the run cannot be read, or its task is not prepared here.
    """
    evidence = read_evidence(run)
    own = OwnData.find(evidence, data_dir=data_dir, env=env)
    started = time.monotonic()
    with run.read_history() as history:
        found = _Reproducer(evidence, own, history).work(repeats)
    found.score, found.seconds = evidence.record.score, round(time.monotonic() - started, 1)
    return found


class _Reproducer:
    def __init__(self, evidence: Evidence, own: OwnData, history: History) -> None:
        self._evidence, self._own, self._history = evidence, own, history
        self._steps = [event for event in evidence.events if isinstance(event, Step)]
        self._final = evidence.journal.snapshot
        self._kept_bytes = 0
        with tempfile.TemporaryDirectory(prefix="podium-reproduce-") as scratch:
            self._submitted = self._extract(self._final, SUBMISSION, Path(scratch))

    def work(self, repeats: int) -> Reproduction:
        if not self._evidence.record.valid:
            return Reproduction("not reproducible", "The run has no valid submission.")
        if not self._own.prepared.task.is_table:
            return self._run_submission(repeats)
        problem = "No step in the journal produced the submission."
        for recipe in self._recipes():
            made = self._run_plan(recipe, self._own.prepared.place.public)
            if isinstance(made, str):
                problem = f"{recipe.name}: {made}"
                continue
            found = self._compare(recipe, made, repeats)
            if found.outcome in ("identical", "equivalent") and self._is_independent_of_data(recipe, made):
                detail = "Scrambled data gives the same submission, so it was not computed from the data."
                return Reproduction("not reproducible", detail, recipe.name, scores=found.scores)
            if found.outcome != "different":
                return found
            problem = found.detail
        outcome: Agreement = "different" if problem.startswith("score") else "not reproducible"
        return Reproduction(outcome, problem)

    def _run_submission(self, repeats: int) -> Reproduction:
        """Run a submitted program again and compare its scores."""
        with tempfile.TemporaryDirectory(prefix="podium-reproduce-") as scratch:
            place, own = Path(scratch, "submission"), self._own
            grades = [grade_snapshot(self._history, self._final, own.prepared, own.plan, place) for _ in range(repeats)]
        return self._judge("the submitted program", [grade.score for grade in grades])

    def _recipes(self) -> Iterator[ReplayPlan]:
        """Yield the code that may have produced the submission, the cheapest first."""
        if (declared := self._files_below(self._final, "code/")).keys() & {DECLARED}:
            action = Action(name="run_command", arguments={"command": f"sh {HOME}/{DECLARED}"})
            yield ReplayPlan("the declared script", ((action, declared),))
        maker = self._maker()
        if maker is None:
            return
        action = self._action(maker)
        if action.name == "submit_script":
            tries = [n for n in range(maker) if action_name(self._steps[n].action) == "try_script"]
            numbers = [n for n in tries if self._action(n).arguments.get("number") == action.arguments.get("number")]
            if numbers:
                yield ReplayPlan("the winning script", ((self._action(numbers[-1]), {}), (action, {})))
        elif action.name in PROGRAM_ACTIONS and action.name != SESSION:
            yield ReplayPlan("the last program", ((action, self._written(maker)),))
        if action.name in (*PROGRAM_ACTIONS, *COPIES):
            yield ReplayPlan("every program", tuple(self._replay(maker)))

    def _maker(self) -> int | None:
        """Return the step that produced the final submission."""
        wanted = self._history.identity(self._final, SUBMISSION)
        before = self._history.identity(self._evidence.start.snapshot, SUBMISSION)
        found = None
        for number, step in enumerate(self._steps):
            now = self._history.identity(step.snapshot, SUBMISSION)
            if now != before and now == wanted:
                found = number
            before = now
        return found

    def _action(self, number: int) -> Action:
        whole = read_full_action(self._steps[number], self._history.get)
        return whole.model_copy(update={"name": action_name(whole)})

    def _written(self, end: int) -> dict[str, bytes]:
        """Return the files that the agent itself, not a program, had written before a step."""
        names: dict[str, bool] = {}
        for number in range(end):
            by_agent = action_name(self._steps[number].action) not in PROGRAM_ACTIONS
            names |= dict.fromkeys(self._changed(number), by_agent)
        snapshot = self._before(end)
        return self._contents(snapshot, [name for name, by_agent in names.items() if by_agent])

    def _replay(self, end: int) -> Iterator[tuple[Action | None, dict[str, bytes]]]:
        """Yield all steps up to one, with programs to run and files to write."""
        for number in range(end + 1):
            if action_name(self._steps[number].action) in (*PROGRAM_ACTIONS, *COPIES):
                yield self._action(number), {}
            else:
                yield None, self._contents(self._steps[number].snapshot, self._changed(number))

    def _before(self, number: int) -> str:
        return self._steps[number - 1].snapshot if number else self._evidence.start.snapshot

    def _changed(self, number: int) -> list[str]:
        before = self._history.contents(self._before(number))
        after = self._history.contents(self._steps[number].snapshot)
        return [name for name, identity in after.items() if before.get(name) != identity]

    def _files_below(self, snapshot: str, folder: str) -> dict[str, bytes]:
        return self._contents(snapshot, [name for name in self._history.contents(snapshot) if name.startswith(folder)])

    def _contents(self, snapshot: str, names: Sequence[str]) -> dict[str, bytes]:
        """Return the contents of code files, without those missing from the snapshot.

        Raises:
            RecordError: the files are larger than MAX_KEPT_BYTES together.
        """
        found: dict[str, bytes] = {}
        with tempfile.TemporaryDirectory(prefix="podium-reproduce-") as scratch:
            for name in names:
                data = None if name == SUBMISSION else self._extract(snapshot, name, Path(scratch))
                if data is not None:
                    found[name] = data
                    self._kept_bytes += len(data)
                if self._kept_bytes > MAX_KEPT_BYTES:
                    raise RecordError(f"The files written by the agent exceed {MAX_KEPT_BYTES:,} bytes in total.")
        return found

    def _extract(self, snapshot: str, name: str, scratch: Path) -> bytes | None:
        target = scratch / "file"
        target.unlink(missing_ok=True)
        try:
            self._history.extract(snapshot, name, target, max(MAX_FILE_BYTES, self._own.prepared.submission_limit))
        except RecordError:
            return None
        return target.read_bytes() if target.is_file() else None

    def _run_plan(self, recipe: ReplayPlan, public: Path) -> bytes | str:
        """Return the submission that a recipe produces, or the reason why it produces none."""
        plan, budget = self._own.plan, self._evidence.start.budget
        with (
            default_pool().take(plan.cores, plan.gpus, name="reproduction") as lease,
            self._sandbox(public, lease.gpus) as (sandbox, spec),
        ):
            time_s = budget.time_s or budget.wall_s or DAY_S
            programs = Programs(sandbox, spec, lease, seed=self._evidence.seed, time_s=time_s)
            try:
                for action, files in recipe.steps:
                    for name, data in files.items():
                        sandbox.write(f"{HOME}/{name}", data)
                    if action is not None:
                        programs.perform(action)
                return sandbox.read(f"{HOME}/{SUBMISSION}", limit_bytes=self._own.prepared.submission_limit)
            except (OSError, PodiumError) as error:
                return f"it produced no submission ({error})."

    @contextmanager
    def _sandbox(self, public: Path, gpus: tuple[int, ...]) -> Iterator[tuple[Sandbox, SandboxSpec]]:
        """Open a new sandbox with the workspace before the run's first step."""
        plan, prepared = self._own.plan, self._own.prepared
        backend = find_backend(plan.sandbox)
        with tempfile.TemporaryDirectory(prefix="podium-reproduce-", ignore_cleanup_errors=True) as scratch:
            workspace, given = Path(scratch, "workspace"), Path(scratch, "given")
            self._history.check_out(self._evidence.start.snapshot, workspace)
            layout.populate_workspace(workspace, starter=None, agent_files=None)
            spec = SandboxSpec(
                env=None if plan.env is None else Path(plan.env), workspace=workspace, limits=plan.limits
            )
            text = instructions(plan, prepared, backend.capabilities(), spec)
            mounts = layout.mounts(
                given, public.resolve(), instructions=text, validates=False, starter=prepared.task.starter
            )
            spec = spec.model_copy(update={"mounts": mounts, "gpus": gpus})
            with backend.open(spec) as sandbox:
                yield sandbox, spec

    def _compare(self, recipe: ReplayPlan, made: bytes, repeats: int) -> Reproduction:
        """Compare the produced submission with the original, by content and then by repeated scores."""
        if made == self._submitted:
            return Reproduction("identical", "The code produced the same submission.", recipe.name)
        scores = [_score(self._own.prepared, made)]
        while len(scores) < repeats:
            again = self._run_plan(recipe, self._own.prepared.place.public)
            scores.append(None if isinstance(again, str) else _score(self._own.prepared, again))
        return self._judge(recipe.name, scores)

    def _judge(self, name: str, scores: list[float | None]) -> Reproduction:
        """Compare the recorded score with those of repetitions, within their spread."""
        said = float(self._evidence.record.score or 0.0)
        known = [score for score in scores if score is not None]
        if not known:
            return Reproduction("different", "score: the code produced no valid submission.", name, scores=scores)
        spread = max(known) - min(known)
        near = max(spread, self._own.prepared.task.submission.tolerance * abs(said), 1e-6 * abs(said))
        if min(known) - near <= said <= max(known) + near:
            detail = f"Repeated runs of the code score from {min(known):g} to {max(known):g}."
            return Reproduction("equivalent", detail, name, scores=scores)
        detail = (
            f"score {said:g} is recorded, but repeated runs of the code score from {min(known):g} to {max(known):g}."
        )
        return Reproduction("different", detail, name, scores=scores)

    def _is_independent_of_data(self, recipe: ReplayPlan, made: bytes) -> bool:
        """Return whether scrambled data gives the same submission, which is neither constant nor the sample."""
        public = self._own.prepared.place.public
        table = _read(made)
        if table is None or all(table[column].nunique() <= 1 for column in table.columns[1:]):
            return False
        samples = [_read(path.read_bytes()) for path in public.rglob(f"{SAMPLE}*.csv")]
        if any(sample is not None and _agreement(sample, table) >= MIN_EQUAL_SHARE for sample in samples):
            return False
        with tempfile.TemporaryDirectory(prefix="podium-scrambled-") as scratch:
            if not scramble(public, Path(scratch, "public"), str(table.columns[0])):
                return False
            again = self._run_plan(recipe, Path(scratch, "public"))
        other = None if isinstance(again, str) else _read(again)
        return other is not None and _agreement(table, other) >= MIN_EQUAL_SHARE


def _score(prepared: PreparedTask, data: bytes) -> float | None:
    with tempfile.TemporaryDirectory(prefix="podium-reproduce-") as scratch:
        path = Path(scratch, "submission.csv")
        path.write_bytes(data)
        return prepared.grade(path).score


def _read(data: bytes) -> pd.DataFrame | None:
    try:
        return pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False)
    except (ValueError, UnicodeDecodeError):
        return None


def _agreement(first: pd.DataFrame, second: pd.DataFrame) -> float:
    """Return the share of rows, matched by id, with equal values."""
    if list(first.columns) != list(second.columns) or not len(first):
        return 0.0
    ids = str(first.columns[0])
    both = first.merge(second, on=ids, suffixes=("", " again"))
    equal = [(both[name] == both[f"{name} again"]) for name in first.columns[1:]]
    return float(pd.concat(equal, axis=1).all(axis=1).sum()) / len(first) if equal else 0.0
