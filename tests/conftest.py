"""What every test stands on: a home of its own, so that nothing a user has imported or prepared shows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def podium_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PODIUM_HOME", str(tmp_path_factory.mktemp("home")))
        yield
