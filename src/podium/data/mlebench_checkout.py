"""Import from an MLE-bench checkout: full leaderboards for exact ranks, and original competition descriptions.

Both are stored in Podium's data home, because their licences do not allow Podium to ship them.
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
    """Result of an import: competitions with imported files, and files that could not be imported."""

    leaderboards: list[str]
    descriptions: list[str]
    pointers: list[str]
    """Files that are only Git LFS pointers."""


def import_checkout(checkout: Path, task_ids: list[str]) -> Imported:
    """Copy the leaderboards and descriptions of the named competitions."""
    folder = checkout / "mlebench" / "competitions"
    if not folder.is_dir():
        raise UsageError(
            f"{checkout} cannot be imported: it is neither an MLE-bench checkout (there is no {folder}) nor an "
            "MLE-bench grading report or run group nor a Harbor job."
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
            f"The checkout has only Git LFS pointers, such as {done.pointers[0]}. "
            f"Run `git lfs install && git lfs pull` in {checkout}, then import it again."
        )
    return done


def _read(path: Path, checkout: Path) -> str | None:
    """Return the text of a file of a checkout, or None if it does not exist. Links are not followed.

    Raises:
        UsageError: It is not a readable text file.
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
    """Return the path of a competition's full human leaderboard, or None if none was imported."""
    return _existing(task_id, LEADERBOARD)


def imported_description(task_id: str) -> Path | None:
    """Return the path of a competition's original description, or None if none was imported."""
    return _existing(task_id, DESCRIPTION)


def _imported(task_id: str, name: str) -> Path:
    return home() / "imported" / task_id / name


def _existing(task_id: str, name: str) -> Path | None:
    path = _imported(task_id, name)
    return path if path.is_file() else None
