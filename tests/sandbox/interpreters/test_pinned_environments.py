"""Interpreters with pinned packages: built by the real pip, from a folder of packages instead of a registry."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from podium.errors import PodiumError, UsageError
from podium.recipes.kit.inputs import pretrained_nets
from podium.sandbox.interpreters import pinned_environments
from podium.sandbox.interpreters.interpreter import find_interpreter, python_inside
from podium.sandbox.linux.bubblewrap import Bubblewrap
from podium.sandbox.spec import SandboxSpec


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.setenv("PODIUM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setattr(pinned_environments, "packages", lambda kind: ["small-thing==1.0"])
    return folder


def offer(folder: Path) -> None:
    with zipfile.ZipFile(folder / "small_thing-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("small_thing.py", "answer = 42\n")
        wheel.writestr("small_thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: small-thing\nVersion: 1.0\n")
        wheel.writestr(
            "small_thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr("small_thing-1.0.dist-info/RECORD", "")


def test_programs_find_the_packages_of_a_built_interpreter(registry: Path) -> None:
    with pytest.raises(UsageError, match="podium env build cpu"):
        find_interpreter("cpu")
    offer(registry)
    folder = pinned_environments.build("cpu")
    (folder / "kept").touch()
    assert pinned_environments.build("cpu") == folder and (folder / "kept").exists()
    assert pinned_environments.broken_modules("cpu", ["small_thing", "other"]) == [
        "other: ModuleNotFoundError: No module named 'other'"
    ]
    spec = SandboxSpec(env=Path("cpu"))
    with Bubblewrap().open(spec) as sandbox:
        done = sandbox.run([python_inside(spec, sealed=True), "-c", "import small_thing; print(small_thing.answer)"])
    assert done.stdout.text.strip() == "42"
    assert pinned_environments.remove("cpu") and not pinned_environments.is_built("cpu")


def test_failed_build_is_reported_and_not_used(registry: Path) -> None:
    with pytest.raises(PodiumError, match="No matching distribution found for small-thing"):
        pinned_environments.build("gpu")
    assert not pinned_environments.is_built("gpu")


def test_the_lists_pin_every_package_once() -> None:
    for kind in pinned_environments.KINDS:
        names = [entry.split("==")[0] for entry in pinned_environments.packages(kind)]
        assert len(set(names)) == len(names) > 50
        assert all(entry.count("==") == 1 for entry in pinned_environments.packages(kind))


def test_a_build_imports_every_package_of_the_pretrained_net() -> None:
    source = Path(pretrained_nets.__file__).read_text(encoding="utf-8")
    needed = set(re.findall(r"^    (?:import|from) (\w+)", source, re.MULTILINE))
    assert {"torch", "efficientnet_lite_pytorch"} <= needed <= set(pinned_environments.CHECKED_MODULES)
