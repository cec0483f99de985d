"""Submitted programs that are run again to score them: what lies around them, and what came of them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from podium.grading.files import read_plain


@dataclass
class FinishedProgram:
    """What came of a program, with the folder it worked in."""

    seconds: float
    exit_code: int
    stopped: str | None
    output: str
    folder: Path

    def read(self, name: str, max_bytes: int = 1 << 30) -> bytes:
        """A file that it left."""
        return read_plain(self.folder, name, max_bytes)


def put_files(files: Mapping[str, Path | bytes], folder: Path) -> None:
    """Fills the folder of a program: files and folders to copy, or contents, under relative names."""
    for name, source in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(source, bytes):
            target.write_bytes(source)
        elif source.is_dir():
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copyfile(source, target, follow_symlinks=False)
