"""Names lead to what Podium or an installed package offers, and a wrong one to what was meant."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from podium import plugins
from podium.errors import UsageError

BUILTIN = {"ordered": "collections:OrderedDict", "counter": "collections:Counter"}


def test_a_name_leads_to_the_thing_and_an_import_path_too() -> None:
    from collections import Counter
    from fractions import Fraction

    assert plugins.find("agents", "counter", BUILTIN) is Counter
    assert plugins.find("agents", "fractions:Fraction", BUILTIN) is Fraction


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("countr", "There is no agent 'countr'. Did you mean 'counter'?"),
        ("zzz", "There is no agent 'zzz'. The agents are: ordered, counter."),
        ("no_such_package:Agent", "cannot be loaded from no_such_package:Agent"),
        ("collections:Nothing", "cannot be loaded from collections:Nothing"),
        (":Agent", "cannot be loaded from :Agent: ValueError: Empty module name"),
        (".agents:Agent", "cannot be loaded from .agents:Agent: TypeError"),
    ],
)
def test_a_wrong_name_says_what_to_do(name: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        plugins.find("agents", name, BUILTIN)


def test_installed_packages_are_found_but_take_no_builtin_name_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "other-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[podium.agents]\nmine = decimal:Decimal\ncounter = decimal:Decimal\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    known = plugins.offered("agents", BUILTIN)
    assert known == {**known, "mine": "decimal:Decimal", **BUILTIN}
