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
from pathlib import Path
from typing import NamedTuple

from podium.errors import RecordError
from podium.integrity.python_code import Code, ConstantText, source_of
from podium.integrity.shell_commands import ShellCommand, ShellScript, read_shell
from podium.integrity.submission_values import SubmissionTable, read_table
from podium.integrity.write_findings import quote
from podium.report.stored_findings import Finding, Severity
from podium.runs.records import RunRecord
from podium.runs.run_folder import RunFolder
from podium.task import SUBMISSION
from podium.workspace.history.history import History
from podium.workspace.journal.events import Action, Start, Step, whole_action, whole_observation
from podium.workspace.journal.journal import JournalReader
from podium.workspace.journal.observations import Observation

MOST_STEPS = 5_000
MOST_PROGRAMS = 2_000
PROGRAM_BYTES, NOTEBOOK_BYTES, SUBMISSION_BYTES = 1 << 20, 4 << 20, 64 << 20
"""Notebooks carry their pictures."""
OUTPUT_CHARACTERS, MENTIONED_CHARACTERS, REASON_CHARACTERS = 200_000, 1_000, 600
_SHELLS = ("os.system", "os.popen", "subprocess.")
_FITTING = re.compile(
    r"(\.(fit|fit_transform|train|partial_fit|fit_predict|backward|fit_resample)|cross_val_\w+|cross_validate)$"
)
SAYING = ("print", "logging.", "logger.", "log.", "raise", "warnings.warn", "sys.stdout.write", "sys.stderr.write")


class Hit(NamedTuple):
    """Something that is evidence: a finding without its place."""

    kind: str
    reason: str
    confidence: float
    severity: Severity = "concern"


class EvidencePlace(NamedTuple):
    """Where something stands that a finding is about, and what stands there."""

    step: int | None = None
    file: str | None = None
    line: int | None = None
    quote: str = ""


class Change(NamedTuple):
    """A file that was new or different after a step."""

    path: str
    blob: str


class Mention(NamedTuple):
    """A constant text, in a program or a command, that may lead to a file or an address."""

    text: str
    use: str
    """The function or the program it is given to."""
    place: EvidencePlace


class Submission(NamedTuple):
    """The submission as it stood after a step."""

    step: int
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

    def argument(self, name: str) -> str:
        """A text among the arguments of the action; empty if there is none."""
        value = self.action.arguments.get(name)
        return value if isinstance(value, str) else ""


@dataclass(frozen=True)
class AgentProgram:
    """A program that the agent wrote or ran."""

    step: int
    file: str | None
    """None for one that stands in a command."""
    code: Code

    def at(self, node: ast.AST | ConstantText) -> EvidencePlace:
        """The line of a part of it."""
        line = node.line if isinstance(node, ConstantText) else getattr(node, "lineno", 1)
        return EvidencePlace(self.step, self.file, line, self.code.line(line))

    @cached_property
    def fits(self) -> bool:
        """Whether it fits a model."""
        return any(_FITTING.search(name) for name, _ in self.code.calls)


_NOWHERE = EvidencePlace()


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
    data_dir: Path | None = None
    """Where whoever looks has data of their own; by default in Podium's home."""

    def finding(self, hit: Hit, place: EvidencePlace = _NOWHERE) -> Finding:
        """A finding about this run."""
        file = quote(place.file) if place.file else None
        facts = {"step": place.step, "file": file, "line": place.line, "quote": quote(place.quote)}
        reason = {"reason": hit.reason[:REASON_CHARACTERS], "task": self.task, "seed": self.seed}
        return Finding.model_validate(hit._asdict() | reason | facts)

    def read(self, blob: str, limit_bytes: int = PROGRAM_BYTES) -> str | None:
        """A file of a snapshot as text; None if it is too large or damaged."""
        try:
            return self.history.get(blob, limit_bytes=limit_bytes).decode("utf-8", "replace")
        except RecordError:
            return None

    @cached_property
    def programs(self) -> tuple[AgentProgram, ...]:
        """The Python programs: files that steps left, and what stands in commands."""
        found: dict[tuple[str | None, str], AgentProgram] = {}
        for step in self.steps:
            for file, source in self._sources(step):
                if len(found) < MOST_PROGRAMS and (file, source) not in found:
                    found[file, source] = AgentProgram(step.number, file, Code(source))
        return tuple(found.values())

    @cached_property
    def shell_scripts(self) -> tuple[tuple[EvidencePlace, ShellScript], ...]:
        """The shell commands: those of steps, of shell scripts, and of programs that start a shell."""
        found: list[tuple[EvidencePlace, str]] = []
        for step in self.steps:
            if step.action.name == "run_command":
                found.append((EvidencePlace(step.number), step.argument("command")))
            files = [change for change in step.changes if change.path.endswith((".sh", ".bash"))]
            found += [(EvidencePlace(step.number, each.path), self.read(each.blob) or "") for each in files]
        for program in self.programs:
            found += [(EvidencePlace(program.step, program.file), text) for text in _started(program.code)]
        return tuple((place, read_shell(text)) for place, text in found)

    @cached_property
    def commands(self) -> tuple[tuple[EvidencePlace, ShellCommand], ...]:
        """The commands of all shell scripts, one by one."""
        scripts = self.shell_scripts
        return tuple((place._replace(quote=each.said), each) for place, script in scripts for each in script.commands)

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """Constant texts of programs and commands that are used for something, not only said."""
        found = [
            Mention(text.value, text.use, program.at(text))
            for program in self.programs
            for text in program.code.texts
            if len(text.value) <= MENTIONED_CHARACTERS and not text.use.startswith(SAYING)
        ]
        for place, command in self.commands:
            if command.program not in ("echo", "printf"):
                found += [Mention(word, command.program, place) for word in command.words]
        for step in self.steps:
            paths = filter(None, map(step.argument, ("file_name", "source", "dir_path", "script_name")))
            found += [Mention(path, step.action.name, EvidencePlace(step.number, quote=path)) for path in paths]
        return tuple(found)

    @cached_property
    def submissions(self) -> tuple[Submission, ...]:
        """Each version of the submission, the oldest first."""
        changes = [(step.number, change) for step in self.steps for change in step.changes]
        return tuple(Submission(number, change.blob) for number, change in changes if change.path == SUBMISSION)

    @cached_property
    def table(self) -> SubmissionTable | None:
        """The last submission, if it is a table that can be read."""
        text = self.read(self.submissions[-1].blob, SUBMISSION_BYTES) if self.submissions else None
        return read_table(text) if text else None

    @cached_property
    def made_in(self) -> int:
        """The number of the step that first left the content of the last submission; 0 if there is none."""
        blob = self.submissions[-1].blob if self.submissions else None
        made = (step.number for step in self.steps if any(change.blob == blob for change in step.changes))
        return next(made, 0)

    @cached_property
    def makers(self) -> tuple[AgentProgram, ...]:
        """The programs that made the last submission: those of the step it came from, and files that these use."""
        made = next((step for step in self.steps if step.number == self.made_in), None)
        if made is None:
            return ()
        own = [each for each in self.programs if each.step == made.number]
        said = {posixpath.basename(word) for word in made.argument("command").split()}
        said |= {posixpath.basename(made.argument("script_name"))}
        before = {each.file: each for each in self.programs if each.step < made.number and each.file}
        named = [each for file, each in before.items() if posixpath.basename(file or "") in said]
        modules = {f"{module}.py" for each in (*named, *own) for module, _ in each.code.imports}
        used = [each for file, each in before.items() if posixpath.basename(file or "") in modules]
        return (*dict.fromkeys((*used, *named, *own)),)

    @property
    def is_fitted(self) -> bool:
        """Whether what made the last submission fits a model."""
        return any(each.fits for each in self.makers)

    def is_id(self, value: object) -> bool:
        """Whether a constant is an id of the submission, and not a number that may mean anything."""
        return isinstance(value, str) and self.table is not None and value in self.table.ids

    def _sources(self, step: StepEvidence) -> Iterator[tuple[str | None, str]]:
        for change in step.changes:
            limit = {".py": PROGRAM_BYTES, ".ipynb": NOTEBOOK_BYTES}.get(posixpath.splitext(change.path)[1])
            if limit is not None and (text := self.read(change.blob, limit)) is not None:
                yield change.path, source_of(change.path, text)
        if step.action.name == "python_session":
            yield None, step.argument("command")
        elif step.action.name == "run_command":
            yield from ((None, source) for source in read_shell(step.argument("command")).python)


def read_evidence(folder: RunFolder, data_dir: Path | None = None) -> RunEvidence:
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
    return RunEvidence(
        folder, start.task, seed, start, record, _of_agent(steps), history, given, tuple(problems), data_dir
    )


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
    last, pending = "", tuple[Change, ...]()
    for event in journal:
        snapshot: str | None = getattr(event, "snapshot", None)
        if snapshot is not None and snapshot != last:
            last, before = snapshot, files
            files = _contents(history, snapshot, before, problems)
            pending += tuple(Change(path, blob) for path, blob in sorted(files.items()) if before.get(path) != blob)
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


def _contents(history: History, snapshot: str, before: dict[str, str], problems: list[str]) -> dict[str, str]:
    try:
        return history.contents(snapshot)
    except RecordError as error:
        problems.append(f"a snapshot cannot be read: {error}")
        return before


def _started(code: Code) -> Iterator[str]:
    """The command lines that a program starts."""
    for name, call in code.calls:
        if name.startswith(_SHELLS) and call.args:
            first = call.args[0]
            if isinstance(first, ast.List | ast.Tuple):
                yield " ".join(code.text(each) or "{}" for each in first.elts[:50])
            elif text := code.text(first):
                yield text
