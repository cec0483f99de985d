"""What a run left, as detectors read it: steps, programs, texts that lead somewhere, and submissions.

Everything comes from the journal and the snapshots, so a stranger may have written it: sizes are bounded, and what
cannot be read is left out and told.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from podium.errors import RecordError
from podium.integrity.code import Code, Text, source_of
from podium.integrity.findings import quote
from podium.integrity.shell import ShellScript, read_shell
from podium.integrity.tables import SubmissionTable, read_table
from podium.report.findings import Finding, Severity
from podium.runs.folder import RunFolder
from podium.runs.models import RunRecord
from podium.task import SUBMISSION
from podium.workspace.events import Action, Start, Step, whole_action, whole_observation
from podium.workspace.history import History
from podium.workspace.journal import JournalReader
from podium.workspace.observations import Observation

MOST_STEPS = 5_000
MOST_PROGRAMS = 2_000
PROGRAM_BYTES, NOTEBOOK_BYTES, SUBMISSION_BYTES = 1 << 20, 4 << 20, 64 << 20
"""Notebooks carry their pictures."""
OUTPUT_CHARACTERS, MENTIONED_CHARACTERS, REASON_CHARACTERS = 200_000, 1_000, 600
_SHELLS = {"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"}
_FITTING = re.compile(
    r"(\.(fit|fit_transform|train|partial_fit|fit_predict|backward|fit_resample)|cross_val_\w+|cross_validate)$"
)
SAYING = ("print", "logging.", "logger.", "log.", "raise", "warnings.warn", "sys.stdout.write", "sys.stderr.write")


class Place(NamedTuple):
    """Where something stands that a finding is about, and what stands there."""

    step: int | None = None
    file: str | None = None
    line: int | None = None
    quote: str = ""


@dataclass(frozen=True)
class Change:
    """A file that was new or different after a step."""

    path: str
    blob: str


@dataclass(frozen=True)
class StepEvidence:
    """A step, whole."""

    number: int
    action: Action
    observation: Observation
    changes: tuple[Change, ...] = ()

    @property
    def output(self) -> str:
        """What the agent saw, as far as it is looked at."""
        return self.observation.text[:OUTPUT_CHARACTERS]

    @property
    def typed(self) -> Place:
        """The text that the action writes."""
        return Place(self.number, self.argument("file_name"), None, self.argument("content"))

    def argument(self, name: str) -> str:
        """A text among the arguments of the action; empty if there is none."""
        value = self.action.arguments.get(name)
        return value if isinstance(value, str) else ""


@dataclass(frozen=True)
class Program:
    """A program that the agent wrote or ran."""

    step: int
    file: str | None
    """None for one that stands in a command."""
    code: Code

    def at(self, node: ast.AST | Text) -> Place:
        """The line of a part of it."""
        line = node.line if isinstance(node, Text) else getattr(node, "lineno", 1)
        return Place(self.step, self.file, line, self.code.line(line))


@dataclass(frozen=True)
class Mention:
    """A constant text, in a program or a command, that may lead to a file or an address."""

    text: str
    use: str
    """The function or the program it is given to."""
    place: Place


@dataclass(frozen=True)
class Command:
    """A command of a shell, and where it was given."""

    step: int
    file: str | None
    program: str
    """Without its folder."""
    words: tuple[str, ...]
    writes: tuple[str, ...]

    @property
    def said(self) -> str:
        return " ".join(self.words)

    @property
    def place(self) -> Place:
        return Place(self.step, self.file, None, self.said)


@dataclass(frozen=True)
class Submission:
    """The submission as it stood after a step."""

    step: int
    blob: str


_NOWHERE = Place()


@dataclass(frozen=True)
class RunEvidence:
    """All that detectors look at of one run."""

    folder: RunFolder
    task: str
    seed: int
    start: Start
    record: RunRecord | None
    steps: tuple[StepEvidence, ...]
    history: History = field(repr=False)
    given: dict[str, str] = field(default_factory=dict, repr=False)
    """Files that were there before the first step, with the name of their content."""
    problems: tuple[str, ...] = ()
    """What could not be read."""

    @property
    def name(self) -> str:
        return f"{self.task}/{self.seed}"

    def finding(
        self,
        kind: str,
        reason: str,
        confidence: float,
        place: Place = _NOWHERE,
        *,
        severity: Severity = "concern",
    ) -> Finding:
        """A finding about this run."""
        return Finding(
            kind=kind,
            task=self.task,
            seed=self.seed,
            reason=reason[:REASON_CHARACTERS],
            confidence=confidence,
            step=place.step,
            file=quote(place.file) if place.file else None,
            line=place.line,
            severity=severity,
            quote=quote(place.quote),
        )

    def read(self, blob: str, limit_bytes: int = PROGRAM_BYTES) -> str | None:
        """A file of a snapshot as text; None if it is too large or damaged."""
        try:
            return self.history.get(blob, limit_bytes=limit_bytes).decode("utf-8", "replace")
        except RecordError:
            return None

    @cached_property
    def programs(self) -> tuple[Program, ...]:
        """The Python programs: files that steps left, and what stands in commands."""
        found: list[Program] = []
        seen: set[tuple[str | None, str]] = set()
        for step in self.steps:
            for file, source in (*self._files(step), *((None, text) for text in self._inline(step))):
                if (file, source) not in seen and len(found) < MOST_PROGRAMS:
                    seen.add((file, source))
                    found.append(Program(step.number, file, Code(source)))
        return tuple(found)

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """The commands of all shell scripts, one by one."""
        return tuple(
            Command(step, file, posixpath.basename(each.program), each.words, each.writes)
            for step, file, script in self.shell_scripts
            for each in script.commands
        )

    @cached_property
    def shell_scripts(self) -> tuple[tuple[int, str | None, ShellScript], ...]:
        """The shell commands: those of steps, of shell scripts, and of programs that start a shell."""
        found: list[tuple[int, str | None, ShellScript]] = []
        for step in self.steps:
            if step.action.name == "run_command":
                found.append((step.number, None, read_shell(step.argument("command"))))
            for change in step.changes:
                if change.path.endswith((".sh", ".bash")) and (text := self.read(change.blob)):
                    found.append((step.number, change.path, read_shell(text)))
        for program in self.programs:
            found += [(program.step, program.file, read_shell(text)) for text in _started(program.code)]
        return tuple(found)

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """Constant texts of programs and commands that are used for something, not only said."""
        found = [
            Mention(text.value, text.use, program.at(text))
            for program in self.programs
            for text in program.code.texts
            if len(text.value) <= MENTIONED_CHARACTERS and not text.use.startswith(SAYING)
        ]
        for command in self.commands:
            if command.program not in ("echo", "printf"):
                found += [Mention(word, command.program, command.place) for word in command.words]
        for step in self.steps:
            paths = filter(None, map(step.argument, ("file_name", "source", "dir_path", "script_name")))
            found += [Mention(path, step.action.name, Place(step.number, quote=path)) for path in paths]
        return tuple(found)

    @cached_property
    def submissions(self) -> tuple[Submission, ...]:
        """Each version of the submission, the oldest first."""
        return tuple(
            Submission(step.number, change.blob)
            for step in self.steps
            for change in step.changes
            if change.path == SUBMISSION
        )

    @cached_property
    def table(self) -> SubmissionTable | None:
        """The last submission, if it is a table that can be read."""
        text = self.read(self.submissions[-1].blob, SUBMISSION_BYTES) if self.submissions else None
        return read_table(text) if text else None

    @cached_property
    def made_in(self) -> int:
        """The number of the step that made the last submission; 0 if there is none."""
        made = self.origin(self.submissions[-1].blob) if self.submissions else None
        return made.number if made else 0

    @cached_property
    def makers(self) -> tuple[Program, ...]:
        """The programs that made the last submission: those of the step it came from, and files that the step runs."""
        made = next((step for step in self.steps if step.number == self.made_in), None)
        if made is None:
            return ()
        said = f"{made.argument('script_name')} {made.argument('command')}"
        before = [each for each in self.programs if each.step < made.number and each.file]
        named = {each.file: each for each in before if posixpath.basename(each.file or "") in said}
        return (*named.values(), *(each for each in self.programs if each.step == made.number))

    @property
    def is_fitted(self) -> bool:
        """Whether what made the last submission fits a model."""
        return any(map(_fits, self.makers))

    def is_id(self, value: object) -> bool:
        """Whether a constant is an id of the submission, and not a number that may mean anything."""
        return isinstance(value, str) and self.table is not None and value in self.table.ids

    def origin(self, blob: str) -> StepEvidence | None:
        """The step that first left a content, wherever it lay."""
        return next((step for step in self.steps if any(change.blob == blob for change in step.changes)), None)

    def fits_by(self, step: int) -> bool:
        """Whether a program of a step fits a model."""
        return any(_fits(each) for each in self.programs if each.step == step)

    def _files(self, step: StepEvidence) -> Iterator[tuple[str, str]]:
        for change in step.changes:
            limit = {".py": PROGRAM_BYTES, ".ipynb": NOTEBOOK_BYTES}.get(posixpath.splitext(change.path)[1])
            if limit is not None and (text := self.read(change.blob, limit)) is not None:
                yield change.path, source_of(change.path, text)

    def _inline(self, step: StepEvidence) -> Iterator[str]:
        if step.action.name == "python_session":
            yield step.argument("command")
        elif step.action.name == "run_command":
            yield from read_shell(step.argument("command")).python


def _fits(program: Program) -> bool:
    return any(_FITTING.search(name) for name, _ in program.code.calls)


def read_evidence(folder: RunFolder) -> RunEvidence:
    """What a run left.

    Raises:
        RecordError: its journal cannot be read.
    """
    folder.check()
    journal, history = folder.read_journal(), folder.read_history()
    problems: list[str] = []
    steps, given = _read_steps(journal, history, problems)
    start, record = journal.start, None
    try:
        record = folder.read_record()
    except RecordError as error:
        problems.append(str(error))
    seed = record.seed if record else start.seed
    return RunEvidence(folder, start.task, seed, start, record, _of_agent(steps), history, given, tuple(problems))


def _of_agent(steps: Sequence[StepEvidence]) -> tuple[StepEvidence, ...]:
    """The steps without what coding agents keep in hidden folders of their home, unless a step names it."""
    named = "\n".join(str(value) for step in steps for value in step.action.arguments.values())

    def is_evidence(change: Change) -> bool:
        return not change.path.startswith("agent/.") or posixpath.basename(change.path) in named

    return tuple(replace(step, changes=tuple(filter(is_evidence, step.changes))) for step in steps)


def _read_steps(
    journal: JournalReader, history: History, problems: list[str]
) -> tuple[list[StepEvidence], dict[str, str]]:
    """The steps, each with what changed since the one before, and the files that were there before the first."""
    steps: list[StepEvidence] = []
    files: dict[str, str] = {}
    given: dict[str, str] = {}
    last = ""
    pending: tuple[Change, ...] = ()
    for event in journal:
        snapshot: str | None = getattr(event, "snapshot", None)
        if snapshot is not None and snapshot != last:
            last, (files, changes) = snapshot, _changes(history, snapshot, files, problems)
            pending = (*pending, *changes)
        if isinstance(event, Start):
            given, pending = dict(files), ()
        elif isinstance(event, Step):
            if len(steps) == MOST_STEPS:
                problems.append(f"only the first {MOST_STEPS:,} steps were looked at")
                break
            steps.append(_step(event, len(steps) + 1, pending, history, problems))
            pending = ()
    if pending and steps:  # left by programs that went on after the last step
        steps[-1] = replace(steps[-1], changes=(*steps[-1].changes, *pending))
    return steps, given


def _step(event: Step, number: int, changes: tuple[Change, ...], history: History, problems: list[str]) -> StepEvidence:
    action, observation = event.action, event.observation
    try:
        action, observation = whole_action(event, history.get), whole_observation(event, history.get)
    except RecordError as error:
        problems.append(f"step {number} is only partly there: {error}")
    return StepEvidence(number, action, observation, changes)


def _changes(
    history: History, snapshot: str, before: dict[str, str], problems: list[str]
) -> tuple[dict[str, str], tuple[Change, ...]]:
    try:
        after = history.contents(snapshot)
    except RecordError as error:
        problems.append(f"a snapshot cannot be read: {error}")
        return before, ()
    return after, tuple(Change(path, blob) for path, blob in sorted(after.items()) if before.get(path) != blob)


def _started(code: Code) -> Iterator[str]:
    """The command lines that a program starts."""
    for name, call in code.calls:
        if name in _SHELLS or name.startswith("subprocess."):
            first = call.args[0] if call.args else None
            if isinstance(first, ast.List | ast.Tuple):
                yield " ".join(code.text(each) or "{}" for each in first.elts[:50])
            elif first is not None and (text := code.text(first)):
                yield text
