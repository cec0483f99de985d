"""Similar runs: scripts that are copies of another run's or of a notebook's, task by task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium.data.fetch.kaggle_notebooks import fetch_notebooks
from podium.data.home import home
from podium.errors import RecordError
from podium.integrity.scan_evidence import read_evidence
from podium.integrity.similarity.compare_scripts import MIN_SIMILARITY, Pair, find_similar
from podium.integrity.similarity.documents import Document, initial_sources, read_folder, scripts_of
from podium.report.stored_findings import Finding
from podium.runs.experiment import read_experiment

FROM_SIMILARITY = "similarity"
Notebooks = Callable[[str], Sequence[Document]]
"""Function that returns the notebooks to compare the runs of a task with."""


@dataclass(frozen=True)
class SimilarRuns:
    """Result of comparing the runs of experiments."""

    runs: int
    scripts: int
    notebooks: int
    pairs: tuple[Pair, ...]
    """Similar pairs, the most similar first."""
    unread: tuple[str, ...]
    """Runs that could not be read, each with the reason."""

    def to_dict(self) -> dict[str, Any]:
        pairs = [
            {"left": pair.left.author, "left_file": pair.left.name, "right": pair.right.author,
             "right_file": pair.right.name, "similarity": pair.similarity, "shared": pair.shared,
             "passages": [passage._asdict() for passage in pair.passages]}
            for pair in self.pairs
        ]  # fmt: skip
        return {**vars(self), "pairs": pairs, "unread": list(self.unread)}


def compare_experiments(
    experiments: Sequence[Path], *, notebooks: Notebooks | None = None, threshold: float = MIN_SIMILARITY
) -> SimilarRuns:
    """Compare all runs of a task with each other and with notebooks.

    Raises:
        UsageError: if one of the folders is not an experiment.
    """
    tasks: dict[str, tuple[list[Document], list[str]]] = {}
    unread: list[str] = []
    runs = count = 0
    for folder in experiments:
        for run in read_experiment(folder).runs():
            if not run.journal.exists():
                continue
            name = (folder / run.path.parent.name / run.path.name).as_posix()
            try:
                evidence = read_evidence(run)
            except RecordError as error:
                unread.append(f"{name}: {error}")
                continue
            runs += 1
            documents, starters = tasks.setdefault(evidence.task, ([], []))
            documents += scripts_of(evidence, name)
            starters += initial_sources(evidence)
    pairs: list[Pair] = []
    for task, (documents, starters) in tasks.items():
        others = notebooks(task) if notebooks else ()
        count += len(others)
        pairs += find_similar(documents, others, starters=starters, threshold=threshold)
    scripts = sum(len(documents) for documents, _ in tasks.values())
    pairs.sort(key=lambda pair: -pair.similarity)
    return SimilarRuns(runs, scripts, count, tuple(pairs), tuple(unread))


def notebooks_in(folder: Path) -> Notebooks:
    """Return the notebooks of a folder: those in the subfolder of the task if it exists, else all."""
    return lambda task: read_folder(folder / task if (folder / task).is_dir() else folder)


def fetched_notebooks(count: int) -> Notebooks:
    """Return the most-voted notebooks of each task's competition, which are kept in Podium's home."""

    def fetch(task: str) -> list[Document]:
        folder = home() / "notebooks" / task
        names = [path.name for path in fetch_notebooks(task, folder, count)]
        return [document for document in read_folder(folder) if document.name in names] if names else []

    return fetch


def findings_about(pair: Pair, experiment: Path) -> Iterator[Finding]:
    """Yield the findings of a similar pair about the runs of an experiment.

    Runs of one experiment are of one agent: their similarity is worth knowing, but not suspicious.
    """
    for side, (own, other) in enumerate(((pair.left, pair.right), (pair.right, pair.left))):
        place = Path(own.author)
        if place.parent.parent != experiment:
            continue
        file, _, step = own.name.rpartition(" after step ")
        same = Path(other.author).parent.parent == experiment
        yield Finding(
            kind="copied code",
            task=place.parent.name,
            seed=int(place.name),
            reason=f"{pair.similarity:.0%} of its code, without boilerplate, is also in {other.author} ({other.name}).",
            confidence=min(1.0, round(0.3 + 0.7 * pair.similarity, 2)),
            step=int(step),
            file=file,
            line=pair.passages[0][side][0] if pair.passages else None,
            severity="practice" if same else "concern",
            source=FROM_SIMILARITY,
        )
