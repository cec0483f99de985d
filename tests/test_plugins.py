"""Plug-ins are found by name or import path, and an unknown name gets a suggestion."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from podium import plugins
from podium.errors import UsageError

BUILTIN = {"ordered": "collections:OrderedDict", "counter": "collections:Counter"}


def test_find_by_name_and_by_import_path() -> None:
    from collections import Counter
    from fractions import Fraction

    assert plugins.find("agents", "counter", BUILTIN) is Counter
    assert plugins.find("agents", "fractions:Fraction", BUILTIN) is Fraction


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("countr", "There is no agent 'countr'. Did you mean 'counter'?"),
        ("zzz", "There is no agent 'zzz'. The agents are: ordered, counter."),
        ("no_such_package:Agent", "cannot be loaded from no_such_package:Agent"),
        ("collections:Nothing", "cannot be loaded from collections:Nothing"),
        (":Agent", "cannot be loaded from :Agent: ValueError: Empty module name"),
        (".agents:Agent", "cannot be loaded from .agents:Agent: TypeError"),
    ],
)
def test_unknown_name_gets_a_helpful_message(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plugins.find("agents", name, BUILTIN)


def test_packages_cannot_override_builtin_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "other-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[podium.agents]\nmine = decimal:Decimal\ncounter = decimal:Decimal\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    targets = plugins.offered("agents", BUILTIN)
    assert targets == {**targets, "mine": "decimal:Decimal", **BUILTIN}
