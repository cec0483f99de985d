"""`podium board build`: pages that need no server, ask for nothing outside, and escape what publishers wrote."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from boards import PUBLISHER, anchor, registration

from podium.board.audit import audit
from podium.board.decisions import decide
from podium.board.keys import Signed
from podium.board.ledger import Ledger, make_board, parse_line
from podium.board.merkle import includes
from podium.board.site import Site
from podium.board.statements import Publication, Reproduction, parse_head, sign
from podium.errors import BoardError, UsageError


def row(agent: str, mean: float, registered: Signed | None, **changes: Any) -> dict[str, Any]:
    """A row as a check computes it."""
    return {
        "agent": agent,
        "model": "openai/gpt-5",
        "measure": "any_medal",
        "mean": mean,
        "sem": 1.5,
        "interval": [mean - 3, mean + 3],
        "per_seed": [mean],
        "tasks": 22,
        "seeds": 3,
        "unfinished": 0,
        "by": "A. Team",
        "publisher": PUBLISHER.public,
        "light": False,
        "licence": "",
        "notes": "",
        "registration": registered.digest if registered else None,
        "podium": "0.1.0",
        "podium_sha256": "0" * 64,
        "class": {"budget": "time_s 86400", "network": False, "sandbox": "bubblewrap", "cores": 8, "gpus": 1},
        "runs": [["spaceship-titanic", 0, "finished", 0.8, "gold", None]],
        "disclosures": {"retrieval": "none"},
        **changes,
    }


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A board with three entries in two classes, one of them removed, and one that attacks its readers."""
    ledger = make_board(tmp_path / "board", "A <board>")
    registered = registration(ledger)
    ledger.append(registered, anchor(ledger, registered))
    hostile = row("<script>alert(1)</script>", 90.0, registered, notes="=1+1 \x1b[31m</table>", by="=cmd()")
    hostile["class"] = {**hostile["class"], "network": True}
    for digit, entry in (("a", row("aide", 40.0, registered)), ("b", hostile), ("c", row("mcts", 50.0, None))):
        bundle = digit * 64
        ledger.append(sign(Publication(board=ledger.key.public, bundle=bundle, registration=None), PUBLISHER))
        decide(ledger.folder, bundle, "accepted", "fine", row=entry)
    said = Reproduction(
        board=ledger.key.public, bundle="a" * 64, task="t", seed=0, outcome="identical", detail="the same"
    )
    ledger.append(sign(said, PUBLISHER))
    decide(ledger.folder, "c" * 64, "removed", "its publisher asked")
    return ledger


def test_every_entry_has_a_page_and_classes_are_not_mixed(ledger: Ledger, tmp_path: Path) -> None:
    assert Site(ledger.folder, tmp_path / "site").build() == 3
    index = (tmp_path / "site" / "index.html").read_text()
    assert index.count("<table") == 2
    assert "1 identical" in index and "removed, its publisher asked" in index
    page = (tmp_path / "site" / "entries" / f"{'a' * 64}.html").read_text()
    assert "statement 0" in page and "1 anchors of 1 runs" in page and "retrieval" in page
    assert "Removed:" in (tmp_path / "site" / "entries" / f"{'c' * 64}.html").read_text()
    Site(ledger.folder, tmp_path / "site").build()


def test_pages_escape_what_publishers_wrote_and_ask_for_nothing_outside(ledger: Ledger, tmp_path: Path) -> None:
    Site(ledger.folder, tmp_path / "site", address="https://example.org").build()
    for page in (tmp_path / "site").rglob("*.html"):
        text = page.read_text()
        assert "<script>alert" not in text and "\x1b" not in text and "A &lt;board&gt;" in text
        links = re.findall(r'(?:src|href)="([^"#]+)"', text)
        assert not [link for link in links if "//" in link or link.startswith("/")]
        missing = [link for link in links if not (page.parent / link).resolve().exists()]
        assert missing == []
    assert "'=cmd()" in (tmp_path / "site" / "board.csv").read_text()
    ElementTree.parse(tmp_path / "site" / "feed.xml")


def test_an_entry_can_be_proven_from_its_file_alone(ledger: Ledger, tmp_path: Path) -> None:
    Site(ledger.folder, tmp_path / "site").build()
    document = json.loads((tmp_path / "site" / "entries" / f"{'a' * 64}.json").read_text())
    _, head = parse_head(document["head"])
    entry = parse_line(document["line"].encode(), document["entry"])
    proof = [bytes.fromhex(part) for part in document["proof"]]
    assert includes(entry.leaf, document["entry"], head.size, proof, bytes.fromhex(head.root))
    assert (tmp_path / "site" / "ledger" / "00000.jsonl").exists() and audit(ledger.folder).passed


def test_a_ledger_that_does_not_hold_is_not_shown(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match="something else"):
        Site(ledger.folder, tmp_path / "else")
    path = ledger.folder / "ledger" / "00000.jsonl"
    path.write_bytes(path.read_bytes().replace(b"fine", b"Fine"))
    with pytest.raises(BoardError, match="does not hold"):
        Site(ledger.folder, tmp_path / "site")
