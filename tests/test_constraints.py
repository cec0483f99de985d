"""constraints.txt: pinned packages support the lowest Python version of Podium."""

import re
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from constraints import lowest_python

ROOT = Path(__file__).parent.parent


def pins() -> dict[str, str]:
    """Return the pinned versions for this Python by canonical name."""
    requirements = map(Requirement, (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines())
    active = (pin for pin in requirements if pin.marker is None or pin.marker.evaluate())
    return {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in active}


def installed() -> dict[str, metadata.Distribution]:
    return {canonicalize_name(dist.metadata["Name"]): dist for dist in metadata.distributions()}


def test_every_line_is_a_name_and_a_version() -> None:
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        assert re.fullmatch(r"[\w.-]+==[\w.]+( *; *python_version.+)?", line), line


def test_installed_versions_are_the_pinned_ones() -> None:
    actual, pinned = installed(), pins()
    others = {name: dist.version for name, dist in actual.items() if dist.version != pinned.get(name, dist.version)}
    assert not others, "run make setup"
    assert {"numpy", "inspect-ai", "pytest"} <= actual.keys() & pinned.keys()


def test_pinned_versions_support_the_lowest_python() -> None:
    pinned = pins()
    needs = {
        name: dist.metadata["Requires-Python"]
        for name, dist in installed().items()
        if name in pinned and dist.metadata["Requires-Python"]
    }
    too_new = {name: need for name, need in needs.items() if not SpecifierSet(need).contains(lowest_python())}
    assert not too_new
