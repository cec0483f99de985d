"""What the agent is told of its surroundings."""

from __future__ import annotations

import pytest

from podium import api
from podium.sandbox.linux.bubblewrap import Bubblewrap
from podium.sandbox.spec import NetworkAccess, SandboxSpec
from podium.workspace.layout import Resources, instructions


@pytest.mark.parametrize(
    ("access", "said"),
    [
        (False, "There is no network."),
        (True, "Programs can use the network."),
        (
            ("pypi.org", "mirror.lan:80=10.0.0.5"),
            "only these hosts, through the proxy in $HTTPS_PROXY: pypi.org, mirror",
        ),
    ],
)
def test_instructions_say_what_can_be_reached(access: NetworkAccess, said: str) -> None:
    resources = Resources(cores=1, gpus=0, time_s=None, steps=None)
    spec, capabilities = SandboxSpec(network=access), Bubblewrap().capabilities()
    text = instructions(resources, api.load("spaceship-titanic"), capabilities, spec)
    assert said in text
    assert "http://localhost:5000/validate" in text
    assert ("nothing can be installed" in text) is (access is False)
