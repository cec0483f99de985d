"""Python environments for the programs of agents, made from pinned lists of packages: `--env cpu`, `--env gpu`.

They lie in the data home. A folder counts once its `built.json` is there: a build that was killed is begun anew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from podium.data.files import locked, write_atomically
from podium.data.home import home
from podium.data.trees import remove_tree
from podium.errors import PodiumError

KINDS = {
    "cpu": "boosted trees, torch, timm, transformers, librosa and others",
    "gpu": "the same, with boosted trees that use a GPU; torch as pip is set up to take it",
}
RECORD = "built.json"
CHECKED = (
    "torch",
    "torchvision",
    "timm",
    "transformers",
    "lightgbm",
    "xgboost",
    "catboost",
    "librosa",
    "cv2",
    "sklearn",
)
"""Modules that are imported once after a build: builds of torch and torchvision may not fit together."""
_IMPORT = """
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {error}".splitlines()[0])
"""


def environment_folder(kind: str) -> Path:
    """Where an environment lies, built or not."""
    return home() / "environments" / kind


def is_built(kind: str) -> bool:
    return kind in KINDS and (environment_folder(kind) / RECORD).is_file()


def packages(kind: str) -> list[str]:
    """What an environment has, as `name==version`."""
    text = (files(__package__) / f"{kind}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def build(kind: str) -> Path:
    """Makes an environment, unless it is there with the same packages.

    Raises:
        PodiumError: pip could not install them; says its last words.
    """
    folder, wanted = environment_folder(kind), packages(kind)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.parent / f".{kind}.lock"):
        if _built_packages(folder) != wanted:
            remove_tree(folder)
            _call([sys.executable, "-m", "venv", "--without-pip", str(folder)])
            python = str(folder / "bin" / "python")
            pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
            _call([*pip, "install", "--quiet", "--only-binary=:all:", *wanted])
            record = {"packages": wanted, "time": datetime.now(UTC).isoformat(timespec="seconds")}
            write_atomically(folder / RECORD, json.dumps(record, indent=1) + "\n")
    return folder


def broken_modules(kind: str, names: Sequence[str] = CHECKED) -> list[str]:
    """Which modules of a built environment cannot be imported, with the reason."""
    command = [str(environment_folder(kind) / "bin" / "python"), "-I", "-W", "ignore", "-c", _IMPORT, *names]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()


def remove(kind: str) -> bool:
    """Removes an environment; whether there was one."""
    folder = environment_folder(kind)
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


def _call(command: list[str]) -> None:
    # What PYTHONPATH shows would be taken for installed.
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=variables, check=False)
    if done.returncode:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-8:])
        raise PodiumError(f"{' '.join(command[1:5])} … failed:\n{said}")
