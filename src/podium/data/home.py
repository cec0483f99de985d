"""Where the data of each task lies."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from podium.task import Edition


def home() -> Path:
    """Podium's own folder: `$PODIUM_HOME`, or the platform's cache folder."""
    chosen = os.environ.get("PODIUM_HOME")
    if chosen:
        return Path(chosen).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("podium")


@dataclass(frozen=True)
class Place:
    """The folders of one task in one edition."""

    root: Path
    raw: Path

    @property
    def public(self) -> Path:
        """What an agent sees: a link into `shown`."""
        return self.root / "public"

    @property
    def shown(self) -> Path:
        """Where the public folders of all tasks lie, under names that say nothing."""
        return self.root.parent / ".public"

    @property
    def private(self) -> Path:
        """The answers, which it never sees."""
        return self.root / "private"

    @property
    def manifest(self) -> Path:
        """What was made from what; its presence says that the rest is complete."""
        return self.root / "manifest.json"

    @property
    def baseline(self) -> Path:
        """What the starter code scores, once that was measured."""
        return self.root / "baseline.json"

    @property
    def lock(self) -> Path:
        """One for all editions, since they share the raw folder."""
        return self.raw.with_name(".lock")


def locate(task_id: str, *, edition: Edition = "v1", data_dir: Path | None = None, miniature: bool = False) -> Place:
    """The place of a task's data. Editions lie side by side and share the raw folder; a miniature shares nothing."""
    data_dir = data_dir or home() / "data"
    kind = "@miniature" if miniature else ""
    name = task_id if edition == "v1" else f"{task_id}@{edition}"
    return Place(root=data_dir / f"{name}{kind}", raw=data_dir / f"{task_id}{kind}" / "raw")
