"""A whole report: experiments, what they came to, what they are held against, and whether they were verified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.catalog import suites
from podium.errors import UnknownTaskError
from podium.grading.grade import plain
from podium.report.aggregate import Summary, headline, summarise
from podium.report.export import records
from podium.report.profiles import Profiles, contests, profiles
from podium.report.references import Lines, read_lines
from podium.report.table import Entry, read_entries

if TYPE_CHECKING:
    from podium.runs.verify import Verdict


@dataclass(frozen=True)
class Report:
    """What terminal, page and JSON show."""

    entries: tuple[Entry, ...]
    summaries: tuple[Summary, ...]
    lines: dict[str, Lines]
    """By task."""
    profiles: Profiles | None
    """Of several experiments on the tasks that all of them have."""
    pad: bool
    seeds: int | None
    suite: str | None
    verdicts: dict[str, tuple[Verdict, ...]] = field(default_factory=dict)
    """By experiment; an experiment that is not here was not verified."""

    def to_dict(self) -> dict[str, Any]:
        """The report as plain JSON."""
        return {
            "experiments": [
                {"headline": headline(summary), **summary.to_dict(), "plan": entry.plan, "created": entry.created}
                for entry, summary in zip(self.entries, self.summaries, strict=True)
            ],
            "options": {"pad": self.pad, "seeds": self.seeds, "suite": self.suite},
            "aup": None if self.profiles is None else self.profiles.area,
            "tasks": {task: asdict(lines) for task, lines in self.lines.items()},
            "verified": {name: [found.to_dict() for found in verdicts] for name, verdicts in self.verdicts.items()},
            "runs": [{name: plain(value) for name, value in row.items()} for row in records(self.entries)],
        }


def make_report(
    folders: Sequence[Path],
    *,
    pad: bool = False,
    seeds: int | None = None,
    suite: str | None = None,
    verify: bool = False,
) -> Report:
    """Reads experiments and sums them up.

    Args:
        pad: count missing runs as failures.
        seeds: use no more than so many.
        suite: count the tasks of this suite, no others; those an experiment lacks are missing.
        verify: check every run as `podium verify` does.
    """
    if suite is not None and suite not in suites():
        raise UnknownTaskError(f"There is no suite '{suite}'. The suites are: {', '.join(suites())}")
    tasks = None if suite is None else suites()[suite].tasks
    entries = read_entries(list(folders))
    lines = {task: found for entry in reversed(entries) for task, found in read_lines(entry).items()}
    baselines = {task: found.baseline for task, found in lines.items() if found.baseline is not None}
    return Report(
        entries=tuple(entries),
        summaries=tuple(summarise(entry, pad=pad, seeds=seeds, tasks=tasks) for entry in entries),
        lines=lines,
        profiles=profiles(contests(entries, baselines)) if len(entries) > 1 else None,
        pad=pad,
        seeds=seeds,
        suite=suite,
        verdicts={entry.name: _verify(entry) for entry in entries if not entry.imported} if verify else {},
    )


def _verify(entry: Entry) -> tuple[Verdict, ...]:
    from podium.runs.verify import verify

    return tuple(verify(entry.folder))


def report(experiments: str | PathLike[str] | Sequence[str | PathLike[str]], **options: Any) -> Report:
    """What experiments came to: medals, scores, usage, and how sure that is.

    Args:
        experiments: a folder, or several.
        options: of `make_report`: `pad`, `seeds`, `suite`, `verify`.
    """
    folders = [experiments] if isinstance(experiments, str | PathLike) else experiments
    return make_report([Path(folder) for folder in folders], **options)
