"""What every test stands on: a home of its own, so that nothing a user has imported or prepared shows, and a folder for
temporary files of its own, so that test processes side by side do not wait for each other's leases."""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Iterator
from multiprocessing.util import Finalize
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Before anything loads a library that makes threads: those of tests side by side would wait, spinning, for each other's
# cores, and compute up to ten times as long.
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}

from podium.runs.drive.executors import local_executor
from podium.safefs.remove_tree import remove_tree

# What tests import stays: looking through it time and again takes a third of the time of their collection.
gc.disable()
AFTER_MULTIPROCESSING = -200  # its own temporary folder, which lies in ours, goes at -100

# How long something takes is not for tests to say: machines are busy at times.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What has a make target of its own is left out unless -m asks for it."""
    if config.option.markexpr:
        return
    opt_in = {line.partition(":")[0] for line in config.getini("markers") if "run with make test-" in line}
    left_out = [item for item in items if opt_in & {mark.name for mark in item.iter_markers()}]
    config.hook.pytest_deselected(items=left_out)
    gone = set(left_out)
    items[:] = [item for item in items if item not in gone]


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.freeze()
    gc.set_threshold(100_000)  # at 700, the usual, it is a twentieth of the time of tests, which leave little to find
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def podium_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    temporary = Path(tempfile.mkdtemp(prefix="podium-tests-"))
    temporary.chmod(0o755)  # as /tmp: some tests do things as another user
    Finalize(None, remove_tree, (temporary,), exitpriority=AFTER_MULTIPROCESSING)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PODIUM_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("TMPDIR", str(temporary))
        patch.setattr(tempfile, "tempdir", str(temporary))
        # Runs of this process are forked from one, whichever comes first: later ones shall import no clients of models.
        patch.setattr(
            local_executor, "IMPORTED_ONCE", (*local_executor.IMPORTED_ONCE, *local_executor.IMPORTED_FOR_MODELS)
        )
        yield
