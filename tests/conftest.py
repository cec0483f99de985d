"""Session set-up: a separate home, so that tests do not see the user's data, and a separate folder for temporary files,
so that parallel test processes do not wait for each other's leases."""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Iterator
from multiprocessing.util import Finalize
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Set before any library starts threads: in parallel test processes, threads would spin for each other's cores and take
# up to ten times as long.
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}

from podium.runs.drive.executors import local_executor
from podium.safefs.remove_tree import remove_tree

# Imported modules stay alive: collecting garbage among them takes a third of the time of test collection.
gc.disable()
AFTER_MULTIPROCESSING = -200  # its own temporary folder, inside ours, is removed at -100

# Tests do not check durations, because machines can be busy.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests with their own make target, unless -m selects them."""
    if config.option.markexpr:
        return
    opt_in = {line.partition(":")[0] for line in config.getini("markers") if "run with make test-" in line}
    left_out = [item for item in items if opt_in & {mark.name for mark in item.iter_markers()}]
    config.hook.pytest_deselected(items=left_out)
    gone = set(left_out)
    items[:] = [item for item in items if item not in gone]


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.freeze()
    gc.set_threshold(100_000)  # the default of 700 costs 5 % of the run time
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def podium_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    temporary = Path(tempfile.mkdtemp(prefix="podium-tests-"))
    temporary.chmod(0o755)  # like /tmp: some tests act as another user
    Finalize(None, remove_tree, (temporary,), exitpriority=AFTER_MULTIPROCESSING)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PODIUM_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("TMPDIR", str(temporary))
        patch.setattr(tempfile, "tempdir", str(temporary))
        # Runs are forked from one preloaded process: preload the model clients too, so that no run imports them.
        patch.setattr(
            local_executor,
            "PRELOADED_MODULES",
            (*local_executor.PRELOADED_MODULES, *local_executor.PRELOADED_FOR_MODELS),
        )
        yield
