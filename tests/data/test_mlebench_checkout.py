"""What is taken over of a checkout of MLE-bench."""

from __future__ import annotations

from pathlib import Path

import pytest
from stages import make_task, whole

from podium.data.mlebench_checkout import import_checkout
from podium.data.prepare import prepare_task
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


def test_published_edition_uses_the_imported_description(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_HOME", str(tmp_path / "home"))
    folder = tmp_path / "checkout" / "mlebench" / "competitions" / "toy"
    folder.mkdir(parents=True)
    (folder / "description.md").write_bytes("# Toy\r\n\r\nGuess, said Kaggle – in its own words.\r\n".encode())
    task = make_task(whole, generated=True)
    task.fixed("Mended.")
    before = prepare_task(task, data_dir=tmp_path / "before").place.public
    assert import_checkout(tmp_path / "checkout", ["toy"]).descriptions == ["toy"]
    published = prepare_task(task, data_dir=tmp_path / "after").place.public
    fixed = prepare_task(task, data_dir=tmp_path / "after", edition="fixed").place.public
    assert (published / "description.md").read_bytes() == (folder / "description.md").read_bytes()
    assert [(public / "description.md").read_text() for public in (before, fixed)] == ["Guess.", "Guess."]
