"""`podium board build`: pages that need no server, ask for nothing outside, and escape what publishers wrote."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from boards import PUBLISHER

from podium.board.board_site import BoardSite
from podium.board.ledger.audit_ledger import audit
from podium.board.ledger.keeper_decisions import decide
from podium.board.ledger.ledger import Ledger, parse_line
from podium.board.ledger.merkle import verify_inclusion
from podium.board.ledger.statements import Publication, parse_head, sign
from podium.errors import BoardError, UsageError


def test_every_entry_has_a_page_and_classes_are_not_mixed(shown_board: Ledger, tmp_path: Path) -> None:
    assert BoardSite(shown_board.folder, tmp_path / "site").build() == 3
    index = (tmp_path / "site" / "index.html").read_text()
    assert index.count("<table") == 2
    assert "; 1 identical by others, 1 identical by the board</td>" in index, "whatever the publisher says of itself"
    assert "removed. Its publisher asked" in index
    page = (tmp_path / "site" / "entries" / f"{'a' * 64}.html").read_text()
    assert "statement 0" in page and "1 anchor for 1 run" in page and "retrieval" in page
    assert "by the publisher, statement" in page and "by the board, statement" in page
    assert "Removed:" in (tmp_path / "site" / "entries" / f"{'c' * 64}.html").read_text()
    BoardSite(shown_board.folder, tmp_path / "site").build()


def test_a_bundle_that_was_removed_before_it_was_ever_accepted_has_a_page(shown_board: Ledger, tmp_path: Path) -> None:
    published = Publication(board=shown_board.key.public, bundle="d" * 64, registration=None)
    shown_board.append(sign(published, PUBLISHER))
    decide(shown_board.folder, "d" * 64, "removed", "its file never came")
    assert BoardSite(shown_board.folder, tmp_path / "site").build() == 4
    assert "Its file never came" in (tmp_path / "site" / "entries" / f"{'d' * 64}.html").read_text()


def test_pages_escape_publisher_text_and_load_no_external_resources(shown_board: Ledger, tmp_path: Path) -> None:
    BoardSite(shown_board.folder, tmp_path / "site").build()
    for page in (tmp_path / "site").rglob("*.html"):
        text = page.read_text()
        assert "<script>alert" not in text and "\x1b" not in text and "A &lt;board&gt;" in text
        links = re.findall(r'(?:src|href)="([^"#]+)"', text)
        assert not [link for link in links if "//" in link or link.startswith("/")]
        missing = [link for link in links if not (page.parent / link).resolve().exists()]
        assert missing == []
    assert "'=cmd()" in (tmp_path / "site" / "board.csv").read_text()


def test_an_entry_can_be_proven_from_its_file_alone(shown_board: Ledger, tmp_path: Path) -> None:
    BoardSite(shown_board.folder, tmp_path / "site").build()
    document = json.loads((tmp_path / "site" / "entries" / f"{'a' * 64}.json").read_text())
    _, head = parse_head(document["head"])
    entry = parse_line(document["line"].encode(), document["entry"])
    proof = [bytes.fromhex(part) for part in document["proof"]]
    assert verify_inclusion(entry.leaf, document["entry"], head.size, proof, bytes.fromhex(head.root))
    assert (tmp_path / "site" / "ledger" / "00000.jsonl").exists() and audit(shown_board.folder).passed


def test_a_ledger_that_does_not_hold_is_not_shown(shown_board: Ledger, tmp_path: Path) -> None:
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match="contains other files"):
        BoardSite(shown_board.folder, tmp_path / "else")
    path = shown_board.folder / "ledger" / "00000.jsonl"
    path.write_bytes(path.read_bytes().replace(b"fine", b"Fine"))
    with pytest.raises(BoardError, match="fails its audit"):
        BoardSite(shown_board.folder, tmp_path / "site")
