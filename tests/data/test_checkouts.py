"""What is taken over of a checkout of MLE-bench."""

from __future__ import annotations

from pathlib import Path

import pytest

from podium.data.imports import import_checkout
from podium.errors import UsageError


def test_links_of_a_checkout_are_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "checkout" / "mlebench" / "competitions"
    (folder / "one").mkdir(parents=True)
    secret = tmp_path / "secret"
    secret.write_text("score\n1\n")
    (folder / "one" / "leaderboard.csv").symlink_to(secret)
    with pytest.raises(UsageError, match=r"leaderboard\.csv cannot be read"):
        import_checkout(tmp_path / "checkout", ["one"])
    (folder / "one" / "leaderboard.csv").unlink()
    (folder / "one" / "leaderboard.csv").write_text("score\n1\n")
    (folder / "two").symlink_to(tmp_path)
    assert import_checkout(tmp_path / "checkout", ["one", "two"]).leaderboards == ["one"]
