"""Backends are found by name, those of other packages included."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from podium.errors import UsageError
from podium.sandbox.backend import backend_names, find_backend
from podium.sandbox.linux.bubblewrap import Bubblewrap
from podium.sandbox.none import NoSandbox
from podium.sandbox.spec import GIB, Limits, SandboxSpec


def test_backends_are_found_by_name_and_by_path() -> None:
    assert {"bubblewrap", "docker", "none"} <= {*backend_names()}
    assert isinstance(find_backend("none"), NoSandbox)
    assert isinstance(find_backend("podium.sandbox.linux.bubblewrap:Bubblewrap"), Bubblewrap)


def test_misspelled_backend_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match="bubblewrap"):
        find_backend("bubblewarp")


def test_a_backend_of_another_package_is_found(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("from podium.sandbox.none import NoSandbox as Mine\n")
    (tmp_path / "mine-1.dist-info").mkdir()
    (tmp_path / "mine-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    (tmp_path / "mine-1.dist-info/entry_points.txt").write_text("[podium.backends]\nmine = mine:Mine\n")
    script = "from podium.sandbox.backend import *; print(*backend_names(), find_backend('mine').name)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={"PYTHONPATH": str(tmp_path)}
    )
    assert done.stdout == "bubblewrap docker mine none none\n", done.stderr


def test_listing_backends_imports_none() -> None:
    script = "import sys; from podium.sandbox.backend import backend_names; backend_names(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.split()
    assert not {"podium.sandbox.linux.bubblewrap", "podium.sandbox.docker.docker_backend", "inspect_ai", "docker"} & {
        *loaded
    }


def test_own_ports_depend_on_the_network() -> None:
    bubblewrap, none = Bubblewrap().capabilities(), NoSandbox().capabilities()
    closed, granted = SandboxSpec(), SandboxSpec(network=True)
    assert [bubblewrap.has_own_ports(spec) for spec in (closed, granted)] == [True, True]
    assert [none.has_own_ports(spec) for spec in (closed, granted)] == [False, False]
    assert [none.has_network(closed), bubblewrap.has_network(closed)] == [True, False]


def test_shared_memory_is_at_most_half_of_all_memory() -> None:
    assert Limits(memory_bytes=100, shared_memory_bytes=80).effective().shared_memory_bytes == 50
    assert Limits(shared_memory_bytes=80).effective().shared_memory_bytes == 80


def test_default_memory_limit_is_most_of_the_machine() -> None:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = Limits().effective()
    assert limits.memory_bytes is not None and 0 < limits.memory_bytes < machine
    assert Limits(memory_bytes=GIB).effective().memory_bytes == GIB
    assert Limits(memory_bytes=GIB).effective().shared_memory_bytes == GIB // 2
