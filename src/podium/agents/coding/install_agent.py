"""Installer of coding agents: puts the programs of presets into the data home, which sandboxes mount read-only.

An installation is created in a temporary folder and renamed into place. Install scripts of packages are not run;
registries are those configured for npm and pip. The installed versions and a checksum are saved and recorded with runs.
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
from podium.agents.coding.preset import Install, Preset, fill_platform_names
from podium.data.home import home
from podium.errors import PodiumError
from podium.safefs.atomic_files import locked, sha256
from podium.safefs.remove_tree import remove_tree
from podium.sandbox.interpreters.pip_install import call, make_venv
from podium.sandbox.spec import Frozen

RECORD, SETTINGS = "installed.json", "settings"
ENVIRONMENT = "env"
"""Folder of the Python environment in an installation from PyPI."""


class Installed(Frozen):
    """Content of `installed.json`, the record of an installation."""

    preset: str
    packages: tuple[str, ...]
    """Packages as requested."""
    versions: dict[str, str]
    """Versions of all installed packages, including dependencies."""
    sha256: str
    """Checksum of the names and contents of all files."""
    size_bytes: int
    time: str


def folder_of(preset: Preset) -> Path:
    """Return the installation folder of a preset's program; each version has its own."""
    document = preset.model_dump_json(include={"install", "files"}, exclude={"install": {"megabytes"}})
    described = fill_platform_names(document)
    return home() / "agents" / f"{preset.name}-{hashlib.sha256(described.encode()).hexdigest()[:12]}"


def installed(preset: Preset) -> Installed | None:
    """Return the record of a preset's installation, or None if the preset's version is not installed."""
    try:
        return Installed.model_validate_json((folder_of(preset) / RECORD).read_bytes())
    except (OSError, ValueError):
        return None


def install(preset: Preset, *, python: Path | None = None) -> Installed:
    """Install the program of a preset, unless it is installed already.

    Args:
        python: interpreter for a program from PyPI. None means a suitable one of this machine.

    Raises:
        PodiumError: the installation failed.
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
                f"The packages {' '.join(_packages(preset.install))} were installed, but the file "
                f"{preset.program('.')} is missing. Check `program` in the preset."
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
    """Remove a preset's program. Return whether it was installed."""
    if installed(preset) is None:
        return False
    remove_tree(folder_of(preset))
    return True


def _packages(wanted: Install) -> list[str]:
    return [fill_platform_names(package) for package in (*wanted.packages, *wanted.alone)]


def _fetch(command: list[str], *, settings: str) -> None:
    try:
        call(command)
    except PodiumError as error:
        raise PodiumError(f"{error}\nCheck the network connection and the registry settings: {settings}") from error


def _npm(wanted: Install, folder: Path) -> dict[str, str]:
    if shutil.which("npm") is None:
        raise PodiumError("npm is not installed. It comes with Node.js (on Debian and Ubuntu, run: apt install npm).")
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
