"""The agent's Python, and the parts of the host that are shown with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from podium.errors import UsageError
from podium.sandbox.interpreters import interpreter
from podium.sandbox.interpreters.interpreter import find_interpreter, python_inside
from podium.sandbox.interpreters.python_mounts import Pythons
from podium.sandbox.linux.bubblewrap import Bubblewrap
from podium.sandbox.spec import Mount, SandboxSpec


def make_python(home: Path) -> Path:
    """Create files that look like an installation of Python."""
    (home / "bin").mkdir(parents=True)
    (home / "lib/python3.11/site-packages").mkdir(parents=True)
    (home / "lib/python3.11/os.py").touch()
    (home / "bin/python3.11").touch()
    return home / "bin/python3.11"


def shown(folder: Path) -> list[str]:
    """Return the paths that a sandbox with an environment shows."""
    return [mount.target for mount in Pythons([Mount(source=folder, target=str(folder))]).mounts()]


def test_intermediate_link_to_python_is_shown_alone(tmp_path: Path) -> None:
    real = make_python(tmp_path / "share/python")
    (tmp_path / "local/bin").mkdir(parents=True)
    (tmp_path / "local/bin/python3").symlink_to(real)
    (tmp_path / "env/bin").mkdir(parents=True)
    (tmp_path / "env/bin/python").symlink_to(tmp_path / "local/bin/python3")
    assert shown(tmp_path / "env") == [str(tmp_path / part) for part in ("env", "local/bin/python3", "share/python")]


def test_a_system_python_by_its_short_name_does_not_show_everything(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to("/bin/sh")  # as good as /bin/python3
    assert shown(tmp_path) == [str(tmp_path)]


def test_a_python_in_the_home_folder_itself_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    make_python(tmp_path / "user")
    (tmp_path / "env/bin").mkdir(parents=True)
    (tmp_path / "env/bin/python").symlink_to(tmp_path / "user/bin/python3.11")
    with pytest.raises(UsageError, match="folder of its own"):
        shown(tmp_path / "env")


def test_every_trace_of_podium_is_hidden(tmp_path: Path) -> None:
    make_python(tmp_path)
    packages = tmp_path / "lib/python3.11/site-packages"
    traces = [
        "podium",
        "podium-1.0.dist-info",
        "_podium.pth",
        "__editable___podium_finder.py",
        "podium.egg-link",
    ]
    for name in [*traces, "numpy", "podiums", "my_podium_notes"]:
        (packages / name).touch()
    assert interpreter.podium_traces([tmp_path]) == {packages / name for name in traces}
    checkout = Path(interpreter.__file__).parents[4]
    if (checkout / "pyproject.toml").exists():
        assert interpreter.podium_traces([checkout.parent]) == {checkout}


def test_visible_folders_of_tasks_are_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, elsewhere = tmp_path / "env/share/tasks", tmp_path / "tasks"
    for folder in (inside, elsewhere):
        folder.mkdir(parents=True)
    monkeypatch.setenv("PODIUM_TASKS", f"{inside}:{elsewhere}")
    assert interpreter.podium_traces([tmp_path / "env"]) == {inside}


def test_environment_is_visible_without_podium(spec: SandboxSpec) -> None:
    script = "import sys, numpy; print(sys.prefix)"
    with Bubblewrap().open(spec) as sandbox:
        result = sandbox.run(["python", "-c", script], timeout_s=60)
        assert result.stdout.text == f"{find_interpreter(None).shown_prefix}\n"
        assert "No module named 'podium'" in sandbox.run(["python", "-c", "import podium"]).stderr.text


def test_an_image_brings_its_own_python() -> None:
    assert python_inside(SandboxSpec(), sealed=False) == str(find_interpreter(None).executable)
    assert python_inside(SandboxSpec(image="debian"), sealed=True) == "python3"
    assert python_inside(SandboxSpec(image="debian", env=Path("/opt/env")), sealed=True) == "/opt/env/bin/python"
