"""Scripts have their time from when they start; tests of the kit run in one process for as long as all tests take."""

from __future__ import annotations

import time

import pytest

from podium.tables import script_settings


@pytest.fixture(autouse=True)
def script_started_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script_settings, "STARTED", time.monotonic())
