"""The server that stands in for kaggle.com."""

from __future__ import annotations

import fcntl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from kaggle_server import Kaggle


@pytest.fixture
def kaggle(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> Iterator[Kaggle]:
    """The server, with credentials for it; tests in other processes wait, since the port is fixed."""
    monkeypatch.setenv("KAGGLE_API_ENVIRONMENT", "TEST")
    monkeypatch.setenv("KAGGLE_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KAGGLE_USERNAME", "someone")
    monkeypatch.setenv("KAGGLE_KEY", "secret")
    lock = tmp_path_factory.getbasetemp().parent / "kaggle-port.lock"
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        server = Kaggle()
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
        server.server_close()
