"""Text of agents is escaped when it is shown in a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from podium.cli import main


@pytest.mark.parametrize("args", [(), ("2",), ("2", "--diff"), ("2", "--json")])
def test_escape_sequences_do_not_reach_the_terminal(
    finished: Path, args: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["steps", str(finished / "spaceship-titanic" / "0"), *args])
    out = capsys.readouterr().out
    assert "notes.txt" in out
    assert "\x1b" not in out
