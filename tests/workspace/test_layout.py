"""Instructions for the agent."""

from __future__ import annotations

import pytest

from podium import api
from podium.sandbox.linux.bubblewrap import Bubblewrap
from podium.sandbox.spec import NetworkAccess, SandboxSpec
from podium.workspace.instructions import Resources, write_instructions


@pytest.mark.parametrize(
    ("access", "expected"),
    [
        (False, "There is no network access."),
        (True, "You have network access."),
        (
            ("pypi.org", "mirror.lan:80=10.0.0.5"),
            "limited to these hosts, through the proxy in $HTTPS_PROXY: pypi.org, mirror",
        ),
    ],
)
def test_instructions_describe_network_access(access: NetworkAccess, expected: str) -> None:
    resources = Resources(cores=1, gpus=0, time_s=None, steps=None)
    spec, capabilities = SandboxSpec(network=access), Bubblewrap().capabilities()
    text = write_instructions(resources, api.load("spaceship-titanic"), capabilities, spec)
    assert expected in text
    assert "http://localhost:5000/validate" in text
    assert ("No other packages can be installed" in text) is (access is False)
