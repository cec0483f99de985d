"""constraints.txt: what set-up installs must suit the lowest Python that Podium supports."""

import re
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from constraints import lowest_python

ROOT = Path(__file__).parent.parent


def pins() -> dict[str, str]:
    """Pinned version by canonical name, of the pins that hold on this Python."""
    requirements = map(Requirement, (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines())
    held = (pin for pin in requirements if pin.marker is None or pin.marker.evaluate())
    return {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in held}


def installed() -> dict[str, metadata.Distribution]:
    return {canonicalize_name(dist.metadata["Name"]): dist for dist in metadata.distributions()}


def test_every_line_is_a_name_and_a_version() -> None:
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        assert re.fullmatch(r"[\w.-]+==[\w.]+( *; *python_version.+)?", line), line


def test_the_installed_releases_are_the_pinned_ones() -> None:
    found, wanted = installed(), pins()
    others = {name: dist.version for name, dist in found.items() if dist.version != wanted.get(name, dist.version)}
    assert not others, "run make setup"
    assert {"numpy", "inspect-ai", "pytest"} <= found.keys() & wanted.keys()


def test_every_pinned_release_runs_on_the_lowest_declared_python() -> None:
    wanted = pins()
    needs = {
        name: dist.metadata["Requires-Python"]
        for name, dist in installed().items()
        if name in wanted and dist.metadata["Requires-Python"]
    }
    too_new = {name: need for name, need in needs.items() if not SpecifierSet(need).contains(lowest_python())}
    assert not too_new
