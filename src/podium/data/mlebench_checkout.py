"""What an MLE-bench checkout adds: full leaderboards for exact ranks, and the original texts of the competitions.

Both are kept in Podium's own folder, since they are not ours to ship.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from podium.data.home import home
from podium.errors import UsageError
from podium.safefs.atomic_files import write_atomically
from podium.safefs.open_nofollow import read_regular

LFS_POINTER = "version https://git-lfs.github.com/spec/"
MAX_BYTES = 64 << 20
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
        raise UsageError(
            f"{checkout} holds nothing to import: no checkout of MLE-bench (there is no {folder}), "
            "no grading report or run group of it, and no job of Harbor."
        )
    done = Imported([], [], [])
    for task_id in task_ids:
        for name, taken in ((LEADERBOARD, done.leaderboards), (DESCRIPTION, done.descriptions)):
            text = _read(folder / task_id / name, checkout)
            if text is None:
                continue
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


def _read(path: Path, checkout: Path) -> str | None:
    """A file of a checkout; None where there is none. Links are not followed: they may lead anywhere on this machine.

    Raises:
        UsageError: it is something else.
    """
    try:
        return read_regular(path, MAX_BYTES, top=checkout).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not text: {error}.") from error


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
