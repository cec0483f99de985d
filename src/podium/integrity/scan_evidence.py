"""Evidence of a run for the detectors: steps, programs, mentioned paths and addresses, and submissions.

Everything comes from the journal and the snapshots, which may be hostile: sizes are bounded, and unreadable parts are
left out and reported as problems.
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
from podium.workspace.journal.events import Action, Start, Step, read_full_action, read_full_observation
from podium.workspace.journal.journal import JournalReader
from podium.workspace.journal.observations import Observation

MAX_STEPS = 5_000
MAX_PROGRAMS = 2_000
MAX_PROGRAM_BYTES, MAX_NOTEBOOK_BYTES, MAX_SUBMISSION_BYTES = 1 << 20, 4 << 20, 64 << 20
"""Size limits of files; notebooks may contain pictures."""
MAX_OUTPUT_CHARACTERS, MAX_MENTIONED_CHARACTERS, MAX_REASON_CHARACTERS = 200_000, 1_000, 600
_SHELLS = ("os.system", "os.popen", "subprocess.")
_FITTING = re.compile(
    r"(\.(fit|fit_transform|train|partial_fit|fit_predict|backward|fit_resample)|cross_val_\w+|cross_validate)$"
)
PRINTING = ("print", "logging.", "logger.", "log.", "raise", "warnings.warn", "sys.stdout.write", "sys.stderr.write")


class Hit(NamedTuple):
    """Evidence: a finding without its place."""

    kind: str
    reason: str
    confidence: float
    severity: Severity = "concern"


class EvidencePlace(NamedTuple):
    """Place of a finding, and a quotation from it."""

    step: int | None = None
    file: str | None = None
    line: int | None = None
    quote: str = ""


class Change(NamedTuple):
    """File that was new or different after a step."""

    path: str
    blob: str


class Mention(NamedTuple):
    """Constant text in a program or a command that may lead to a file or an address."""

    text: str
    use: str
    """Function or program that receives it."""
    place: EvidencePlace


class Submission(NamedTuple):
    """Version of the submission after a step."""

    step: int
    blob: str


@dataclass(frozen=True)
class StepEvidence:
    """Step with its full action and observation."""

    number: int
    action: Action
    observation: Observation
    changes: tuple[Change, ...] = ()

    @property
    def output(self) -> str:
        """Observation of the agent, up to MAX_OUTPUT_CHARACTERS."""
        return self.observation.text[:MAX_OUTPUT_CHARACTERS]

    def argument(self, name: str) -> str:
        """Return a text argument of the action, or an empty text."""
        value = self.action.arguments.get(name)
        return value if isinstance(value, str) else ""


@dataclass(frozen=True)
class AgentProgram:
    """Program that the agent wrote or ran."""

    step: int
    file: str | None
    """File of the program; None if it is part of a command."""
    code: Code

    def at(self, node: ast.AST | ConstantText) -> EvidencePlace:
        """Return the place of a node or a text."""
        line = node.line if isinstance(node, ConstantText) else getattr(node, "lineno", 1)
        return EvidencePlace(self.step, self.file, line, self.code.line(line))

    @cached_property
    def fits(self) -> bool:
        """True if the program fits a model."""
        return any(_FITTING.search(name) for name, _ in self.code.calls)


_NOWHERE = EvidencePlace()


@dataclass(frozen=True)
class RunEvidence:
    """Evidence of one run."""

    folder: RunFolder
    task: str
    seed: int
    start: Start
    record: RunRecord | None
    steps: tuple[StepEvidence, ...]
    history: History = field(repr=False)
    initial_files: dict[str, str] = field(default_factory=dict, repr=False)
    """Content names of the files that existed before the first step, by path."""
    problems: tuple[str, ...] = ()
    """Parts that could not be read, one sentence each."""
    data_dir: Path | None = None
    """Data folder of the person who scans; Podium's home if None."""

    def finding(self, hit: Hit, place: EvidencePlace = _NOWHERE) -> Finding:
        """Return a finding about this run."""
        file = quote(place.file) if place.file else None
        facts = {"step": place.step, "file": file, "line": place.line, "quote": quote(place.quote)}
        reason = {"reason": hit.reason[:MAX_REASON_CHARACTERS], "task": self.task, "seed": self.seed}
        return Finding.model_validate(hit._asdict() | reason | facts)

    def read(self, blob: str, limit_bytes: int = MAX_PROGRAM_BYTES) -> str | None:
        """Return a file of a snapshot as text, or None if it is too large or damaged."""
        try:
            return self.history.get(blob, limit_bytes=limit_bytes).decode("utf-8", "replace")
        except RecordError:
            return None

    @cached_property
    def programs(self) -> tuple[AgentProgram, ...]:
        """Python programs: files that steps left, and those within commands."""
        found: dict[tuple[str | None, str], AgentProgram] = {}
        for step in self.steps:
            for file, source in self._sources(step):
                if len(found) < MAX_PROGRAMS and (file, source) not in found:
                    found[file, source] = AgentProgram(step.number, file, Code(source))
        return tuple(found.values())

    @cached_property
    def shell_scripts(self) -> tuple[tuple[EvidencePlace, ShellScript], ...]:
        """Shell scripts: commands of steps, script files, and commands that programs start."""
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
        """Single commands of all shell scripts."""
        scripts = self.shell_scripts
        return tuple((place._replace(quote=each.text), each) for place, script in scripts for each in script.commands)

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """Constant texts that programs and commands use other than for printing."""
        found = [
            Mention(text.value, text.use, program.at(text))
            for program in self.programs
            for text in program.code.texts
            if len(text.value) <= MAX_MENTIONED_CHARACTERS and not text.use.startswith(PRINTING)
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
        """Versions of the submission, the oldest first."""
        changes = [(step.number, change) for step in self.steps for change in step.changes]
        return tuple(Submission(number, change.blob) for number, change in changes if change.path == SUBMISSION)

    @cached_property
    def table(self) -> SubmissionTable | None:
        """Last submission, if it is a readable table."""
        text = self.read(self.submissions[-1].blob, MAX_SUBMISSION_BYTES) if self.submissions else None
        return read_table(text) if text else None

    @cached_property
    def source_step(self) -> int:
        """Number of the step that first left the content of the last submission; 0 if there is none."""
        blob = self.submissions[-1].blob if self.submissions else None
        made = (step.number for step in self.steps if any(change.blob == blob for change in step.changes))
        return next(made, 0)

    @cached_property
    def source_programs(self) -> tuple[AgentProgram, ...]:
        """Programs that made the last submission: those of the step it came from, and the files that these use."""
        made = next((step for step in self.steps if step.number == self.source_step), None)
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
        """True if a program that made the last submission fits a model."""
        return any(each.fits for each in self.source_programs)

    def is_id(self, value: object) -> bool:
        """Return whether a constant is an id of the submission."""
        return isinstance(value, str) and self.table is not None and value in self.table.ids

    def _sources(self, step: StepEvidence) -> Iterator[tuple[str | None, str]]:
        for change in step.changes:
            limit = {".py": MAX_PROGRAM_BYTES, ".ipynb": MAX_NOTEBOOK_BYTES}.get(posixpath.splitext(change.path)[1])
            if limit is not None and (text := self.read(change.blob, limit)) is not None:
                yield change.path, source_of(change.path, text)
        if step.action.name == "python_session":
            yield None, step.argument("command")
        elif step.action.name == "run_command":
            yield from ((None, source) for source in read_shell(step.argument("command")).python)


def read_evidence(folder: RunFolder, data_dir: Path | None = None) -> RunEvidence:
    """Read the evidence of a run.

    Raises:
        RecordError: if its journal cannot be read.
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
    """Return the steps without the hidden files that coding agents keep in their home, unless a step names them."""
    named = "\n".join(str(value) for step in steps for value in step.action.arguments.values())

    def is_evidence(change: Change) -> bool:
        return not change.path.startswith("agent/.") or posixpath.basename(change.path) in named

    return tuple(replace(step, changes=tuple(filter(is_evidence, step.changes))) for step in steps)


def _read_steps(
    journal: JournalReader, history: History, problems: list[str]
) -> tuple[list[StepEvidence], dict[str, str]]:
    """Return the steps, each with the changes since the one before, and the files that existed before the first."""
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
            if len(steps) == MAX_STEPS:
                problems.append(f"Only the first {MAX_STEPS:,} steps were scanned.")
                break
            steps.append(_step(event, len(steps) + 1, pending, history, problems))
            pending = ()
    if pending and steps:  # left by programs that continued after the last step
        steps[-1] = replace(steps[-1], changes=(*steps[-1].changes, *pending))
    return steps, given


def _step(event: Step, number: int, changes: tuple[Change, ...], history: History, problems: list[str]) -> StepEvidence:
    action, observation = event.action, event.observation
    try:
        action, observation = read_full_action(event, history.get), read_full_observation(event, history.get)
    except RecordError as error:
        problems.append(f"Step {number} cannot be read completely: {error}")
    return StepEvidence(number, action, observation, changes)


def _contents(history: History, snapshot: str, before: dict[str, str], problems: list[str]) -> dict[str, str]:
    try:
        return history.contents(snapshot)
    except RecordError as error:
        problems.append(f"A snapshot cannot be read: {error}")
        return before


def _started(code: Code) -> Iterator[str]:
    """Yield the command lines that a program starts."""
    for name, call in code.calls:
        if name.startswith(_SHELLS) and call.args:
            first = call.args[0]
            if isinstance(first, ast.List | ast.Tuple):
                yield " ".join(code.text(each) or "{}" for each in first.elts[:50])
            elif text := code.text(first):
                yield text
