"""GPUs that a process may use."""

from __future__ import annotations

import pytest

from podium.leases import gpus
from podium.leases.gpus import device_names, visible_gpus


@pytest.mark.parametrize(
    ("setting", "visible"),
    [
        (None, (0, 3, 2)),
        ("", ()),
        ("-1", ()),
        ("0", (0,)),
        (" 2, 0 ", (2, 0)),
        ("1,-1,0", (3,)),
        ("1,7,0", (3,)),
        ("1,1", (3,)),
        ("GPU-bb,GPU-aa1", (3, 0)),
        ("GPU-", ()),
        ("MIG-1/2/3", ()),
    ],
)
def test_visible_gpus_match_cuda(setting: str | None, visible: tuple[int, ...]) -> None:
    assert visible_gpus([(0, "GPU-aa11"), (3, "GPU-bb22"), (2, "GPU-cc33")], setting) == visible


def test_device_names_are_uuids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "_devices", lambda: [(0, "GPU-aa11"), (3, "GPU-bb22"), (4, "")])
    assert device_names([3, 0, 4]) == ["GPU-bb22", "GPU-aa11", "4"]
