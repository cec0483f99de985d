"""A sandbox being opened never counts as abandoned."""

from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from podium.sandbox.linux import leftovers


def test_a_folder_is_not_removed_while_it_is_claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = Path(tempfile.mkdtemp(prefix=leftovers.SANDBOX_PREFIX))
    lock = fcntl.flock

    def clean_up_first(descriptor: Any, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        leftovers.remove_abandoned()  # as another process may, at the worst moment
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", clean_up_first)
    claim = leftovers.claim(folder)
    leftovers.remove_abandoned()
    assert folder.exists()
    os.close(claim)
    leftovers.remove_abandoned()
    assert not folder.exists()


def test_pipe_in_place_of_a_lock_does_not_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = Path(tempfile.mkdtemp(prefix=leftovers.SANDBOX_PREFIX))
    os.mkfifo(folder / "lock")
    leftovers.remove_abandoned()
    assert not folder.exists()


def test_only_an_existing_free_lock_means_abandoned(tmp_path: Path) -> None:
    assert not leftovers.is_abandoned(tmp_path), "it has no lock"
    claim = leftovers.claim(tmp_path)
    assert leftovers.is_claimed(tmp_path) and not leftovers.is_abandoned(tmp_path)
    os.close(claim)
    assert leftovers.is_abandoned(tmp_path) and not leftovers.is_claimed(tmp_path)
    (tmp_path / "lock").unlink()
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")  # a lock that cannot be opened, as one of another user
    assert not leftovers.is_abandoned(tmp_path)
