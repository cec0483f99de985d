"""What an MLE-bench checkout adds: full leaderboards for exact ranks, and the original texts of the competitions.

Both are kept in Podium's own folder, since they are not ours to ship.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from podium.data.files import write_atomically
from podium.data.home import home
from podium.errors import UsageError

LFS_POINTER = "version https://git-lfs.github.com/spec/"
LEADERBOARD, DESCRIPTION = "leaderboard.csv", "description.md"


@dataclass(frozen=True)
class Imported:
    """What was taken over, and what could not be."""

    leaderboards: list[str]
    descriptions: list[str]
    pointers: list[str]
    """Competitions whose leaderboard is only a Git LFS pointer."""


def import_checkout(checkout: Path, task_ids: list[str]) -> Imported:
    """Takes over the leaderboards and descriptions of the named competitions."""
    folder = checkout / "mlebench" / "competitions"
    if not folder.is_dir():
        raise UsageError(f"{checkout} is not a checkout of MLE-bench: there is no {folder}.")
    done = Imported([], [], [])
    for task_id in task_ids:
        for name, taken in ((LEADERBOARD, done.leaderboards), (DESCRIPTION, done.descriptions)):
            source = folder / task_id / name
            if not source.is_file():
                continue
            text = source.read_text(encoding="utf-8")
            if text.startswith(LFS_POINTER):
                done.pointers.append(f"{task_id}/{name}")
            else:
                write_atomically(_imported(task_id, name), text)
                taken.append(task_id)
    if done.pointers and not done.leaderboards:
        raise UsageError(
            f"The checkout holds only Git LFS pointers, such as {done.pointers[0]}. "
            f"Run there: git lfs install && git lfs pull, then import it again."
        )
    return done


def imported_leaderboard(task_id: str) -> Path | None:
    """The full human leaderboard of a competition, if one was imported."""
    return _existing(task_id, LEADERBOARD)


def imported_description(task_id: str) -> Path | None:
    """The original text of a competition, if it was imported."""
    return _existing(task_id, DESCRIPTION)


def _imported(task_id: str, name: str) -> Path:
    return home() / "imported" / task_id / name


def _existing(task_id: str, name: str) -> Path | None:
    path = _imported(task_id, name)
    return path if path.is_file() else None
