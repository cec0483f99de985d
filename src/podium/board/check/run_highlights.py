"""One-line summary of a run from its journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from podium.errors import PodiumError
from podium.runs.run_folder import RunFolder
from podium.text import plural
from podium.workspace.journal.events import Event, Fork, Resume, Step
from podium.workspace.journal.observations import (
    Observation,
    ProgramOutput,
    ScriptResult,
    SubmissionResult,
    ValidationResult,
)


def run_highlights(folder: Path | None) -> str:
    """Return the summary of a run, empty without a readable journal, as in a light bundle."""
    if folder is None:
        return ""
    try:
        journal = RunFolder(folder).read_journal()
        return "; ".join(_parts([line.event for line in journal.lines()]))
    except (PodiumError, OSError):
        return ""


def _parts(events: list[Event]) -> Iterator[str]:
    seen = [event.observation for event in events if isinstance(event, Step)]
    resumes = sum(isinstance(event, Resume) for event in events)
    yield plural(len(seen), "step") + (f" in {resumes + 1} attempts" if resumes else "")
    for fork in events:
        if isinstance(fork, Fork):
            yield f"forked from step {fork.source_step} of another run"
    programs = [one for one in seen if isinstance(one, ProgramOutput | ScriptResult)]
    if programs:
        failed = sum(one.exit_code != 0 for one in programs)
        yield plural(len(programs), "program") + (f", {failed} failed" if failed else "")
    if (first := _first_valid(seen)) is not None:
        yield f"first valid submission at step {first}"


def _first_valid(seen: Iterable[Observation]) -> int | None:
    return next((number for number, one in enumerate(seen, 1) if _is_valid(one)), None)


def _is_valid(one: Observation) -> bool:
    if isinstance(one, ScriptResult | ValidationResult):
        return one.valid
    return isinstance(one, SubmissionResult) and one.accepted
