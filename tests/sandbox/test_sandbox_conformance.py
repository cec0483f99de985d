"""Every backend keeps its promises; checks that do not apply give the reason."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from podium.sandbox.backend import find_backend
from podium.sandbox.conformance import CHECKS, Bench

BACKENDS = ["bubblewrap", "none", pytest.param("docker", marks=pytest.mark.docker)]


@pytest.fixture(scope="module", params=BACKENDS)
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    with Bench(find_backend(request.param)) as opened:
        yield opened


@pytest.mark.parametrize("name", CHECKS)
def test_backends_keep_their_promises(bench: Bench, name: str) -> None:
    result = bench.run(name)
    if result.status == "not applicable":
        pytest.skip(result.reason)
    assert result.status == "passed", result.reason
