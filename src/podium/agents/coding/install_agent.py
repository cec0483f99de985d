"""Installs the programs of presets into the data home, where sandboxes see them read-only.

An installation is made aside and renamed into place. Scripts of packages are not run; registries are asked in the ways
that npm and pip are set up for. What was installed is written down with a checksum, which runs record.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path

from podium.agents.coding.find_python import Python, choose_python
from podium.agents.coding.preset import Install, Preset, in_names_of_machine
from podium.data.home import home
from podium.errors import PodiumError
from podium.safefs.atomic_files import locked, sha256
from podium.safefs.remove_tree import remove_tree
from podium.sandbox.interpreters.pip_install import call, make_venv
from podium.sandbox.spec import Frozen

RECORD, SETTINGS = "installed.json", "settings"
ENVIRONMENT = "env"
"""The folder of an installation from PyPI that is a Python environment."""


class Installed(Frozen):
    """`installed.json`: what lies in the folder of an installation."""

    preset: str
    packages: tuple[str, ...]
    """As they were asked for."""
    versions: dict[str, str]
    """Of everything that came with them."""
    sha256: str
    """Of all files, by their names and contents."""
    size_bytes: int
    time: str


def folder_of(preset: Preset) -> Path:
    """Where a preset's program is installed; other versions lie elsewhere."""
    what = preset.model_dump_json(include={"install", "files"}, exclude={"install": {"megabytes"}})
    described = in_names_of_machine(what)
    return home() / "agents" / f"{preset.name}-{hashlib.sha256(described.encode()).hexdigest()[:12]}"


def installed(preset: Preset) -> Installed | None:
    """What is installed for a preset; None if it is not, or not in the version that it names."""
    try:
        return Installed.model_validate_json((folder_of(preset) / RECORD).read_bytes())
    except (OSError, ValueError):
        return None


def install(preset: Preset, *, python: Path | None = None) -> Installed:
    """Installs the program of a preset, unless it is there.

    Args:
        python: the interpreter for a program of PyPI. None: one that takes it, found on this machine.

    Raises:
        PodiumError: it cannot be installed; the message says why.
    """
    target = folder_of(preset)
    target.parent.mkdir(parents=True, exist_ok=True)
    with locked(target.parent / f".{preset.name}.lock"):
        return installed(preset) or _install(preset, target, python)


def _install(preset: Preset, target: Path, python: Path | None) -> Installed:
    aside = Path(tempfile.mkdtemp(prefix=f".{preset.name}-", dir=target.parent))
    try:
        if preset.install.kind == "npm":
            versions = _npm(preset.install, aside)
        else:
            versions = _pypi(preset.install, aside, choose_python(preset.name, preset.install.python, python))
        if not Path(preset.program(aside)).exists():
            raise PodiumError(
                f"{' '.join(_packages(preset.install))} can be installed, but has no file {preset.program('.')}"
            )
        for name, text in preset.files.items():
            path = aside / SETTINGS / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        record = _record(preset, versions, aside)
        (aside / RECORD).write_text(record.model_dump_json(indent=1), encoding="utf-8")
        aside.chmod(0o755)
        remove_tree(target)
        aside.rename(target)
    finally:
        if aside.exists():
            remove_tree(aside)
    return record


def uninstall(preset: Preset) -> bool:
    """Removes a preset's program; whether there was one."""
    if installed(preset) is None:
        return False
    remove_tree(folder_of(preset))
    return True


def _packages(wanted: Install) -> list[str]:
    return [in_names_of_machine(package) for package in (*wanted.packages, *wanted.alone)]


def _fetch(command: list[str], *, settings: str) -> None:
    try:
        call(command)
    except PodiumError as error:
        raise PodiumError(f"{error}\nIs there a network, and is the registry the right one? See: {settings}") from error


def _npm(wanted: Install, folder: Path) -> dict[str, str]:
    if shutil.which("npm") is None:
        raise PodiumError("npm is not installed. Install Node.js, which brings it (Debian, Ubuntu: apt install npm).")
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--prefix", str(folder)]
    _fetch(["npm", "install", *options, *_packages(wanted)], settings="npm config list")
    locked = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    return {
        place.removeprefix("node_modules/"): f"{entry['version']} {entry.get('integrity', '')}".strip()
        for place, entry in locked.items()
        if place and (folder / place).exists()
    }


def _pypi(wanted: Install, folder: Path, python: Python) -> dict[str, str]:
    environment = folder / ENVIRONMENT
    install = make_venv(environment, python.executable)
    settings = "pip config list"
    _fetch([*install, *(f"--no-binary={name}" for name in wanted.sources), *wanted.packages], settings=settings)
    if wanted.alone:
        _fetch([*install, "--no-deps", *wanted.alone], settings=settings)
    sites = [str(path) for path in environment.glob("lib/python*/site-packages")]
    return {"python": python.version} | {found.name: found.version for found in distributions(path=sites)}


def _record(preset: Preset, versions: dict[str, str], folder: Path) -> Installed:
    digest, size = hashlib.sha256(), 0
    for path in _files(folder):
        name = path.relative_to(folder).as_posix()
        content = f"-> {path.readlink()}" if path.is_symlink() else sha256(path)
        digest.update(f"{name}\0{content}\n".encode())
        size += path.lstat().st_size
    return Installed(
        preset=preset.name,
        packages=tuple(_packages(preset.install)),
        versions=versions,
        sha256=digest.hexdigest(),
        size_bytes=size,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or path.is_file():
            yield path
