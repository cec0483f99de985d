"""Data folders: location of each task's raw, public and private data."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from podium.task import Edition


def home() -> Path:
    """Return Podium's data home: `$PODIUM_HOME`, or the platform's cache folder."""
    chosen = os.environ.get("PODIUM_HOME")
    if chosen:
        return Path(chosen).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("podium")


@dataclass(frozen=True)
class DataFolder:
    """Data folders of one task in one edition."""

    root: Path
    raw: Path

    @property
    def public(self) -> Path:
        """Folder that agents see: a link into `shown`."""
        return self.root / "public"

    @property
    def shown(self) -> Path:
        """Parent of the public folders of all tasks, which have neutral names."""
        return self.root.parent / ".public"

    @property
    def private(self) -> Path:
        """Folder with the answers, which agents never see."""
        return self.root / "private"

    @property
    def manifest(self) -> Path:
        """Manifest file; its presence means that the data is complete."""
        return self.root / "manifest.json"

    @property
    def baseline(self) -> Path:
        """File with the measured score of the starter code."""
        return self.root / "baseline.json"

    @property
    def lock(self) -> Path:
        """Lock file shared by all editions, since they share the raw folder."""
        return self.raw.with_name(".lock")


def locate(
    task_id: str, *, edition: Edition = "v1", data_dir: Path | None = None, miniature: bool = False
) -> DataFolder:
    """Return the data folders of a task. Editions share the raw folder; a miniature shares nothing."""
    data_dir = data_dir or home() / "data"
    kind = "@miniature" if miniature else ""
    name = task_id if edition == "v1" else f"{task_id}@{edition}"
    return DataFolder(root=data_dir / f"{name}{kind}", raw=data_dir / f"{task_id}{kind}" / "raw")
