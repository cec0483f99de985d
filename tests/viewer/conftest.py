"""A folder of experiments, and the pages over it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from viewed import make_all

from podium.viewer.app import make_app
from podium.viewer.page_site import Site


@pytest.fixture(scope="session")
def experiments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Experiments of every kind; not to be changed."""
    root = tmp_path_factory.mktemp("experiments")
    make_all(root)
    return root


@pytest.fixture(scope="session")
def site(experiments: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(experiments, file=tmp_path_factory.mktemp("index") / "index.sqlite")
    yield site
    site.close()


@pytest.fixture(scope="session")
def pages(site: Site) -> Iterator[TestClient]:
    """A browser without eyes."""
    with TestClient(make_app(site), base_url="http://127.0.0.1:8765", follow_redirects=False) as client:
        yield client
