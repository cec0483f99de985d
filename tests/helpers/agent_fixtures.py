"""Prepared tasks for agents to work on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from podium import api

os.environ.setdefault("PODIUM_API_KEY", "none")  # the key of the model "openai-api/podium/..."; workers inherit it


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a forged task and the miniature of another have been prepared."""
    folder = tmp_path_factory.mktemp("data")
    api.prepare("forge-tabular-classification-medium-101", data_dir=folder)
    api.prepare("spaceship-titanic", data_dir=folder, miniature=True)
    return folder
