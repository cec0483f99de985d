"""Decisions of a board's keeper about bundles, and the resulting standings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from podium.board.ledger.ledger import Ledger, LedgerEntry, Receipt
from podium.board.ledger.statements import DecisionStatement, Publication, ReproductionStatement, sign
from podium.errors import BoardError

Ruling = Literal["accepted", "refused", "removed", "rescored"]
STANDING = ("accepted", "rescored")


def decide(board: Path, bundle: str, verdict: Ruling, reason: str, *, row: dict[str, Any] | None = None) -> Receipt:
    """Append a decision about a bundle, signed with the board's key.

    Raises:
        BoardError: The bundle to be removed does not exist.
    """
    ledger = Ledger(board)
    try:
        if verdict == "removed" and not ledger.index.is_known(bundle):
            raise BoardError(f"Bundle {bundle} does not exist on this board.")
        said = DecisionStatement(board=ledger.key.public, bundle=bundle, verdict=verdict, reason=reason, row=row)
        [receipt] = ledger.append(sign(said, ledger.key))
    finally:
        ledger.close()
    return receipt


@dataclass(frozen=True)
class BundleStanding:
    """Status of a bundle in the ledger; the last decision counts."""

    bundle: str
    decisions: tuple[tuple[LedgerEntry, DecisionStatement], ...]
    published: LedgerEntry | None
    reproductions: tuple[tuple[LedgerEntry, ReproductionStatement], ...]

    @property
    def last(self) -> DecisionStatement:
        return self.decisions[-1][1]

    @property
    def stands(self) -> bool:
        return self.last.verdict in STANDING

    @property
    def row(self) -> dict[str, Any]:
        """Newest row; a removal has none."""
        return next((said.row for _, said in reversed(self.decisions) if said.row is not None), {})


def standings(entries: Sequence[LedgerEntry]) -> list[BundleStanding]:
    """Return every bundle with a decision, in the order of the first decisions."""
    decisions: dict[str, list[tuple[LedgerEntry, DecisionStatement]]] = {}
    published: dict[str, LedgerEntry] = {}
    reproductions: dict[str, list[tuple[LedgerEntry, ReproductionStatement]]] = {}
    for entry in entries:
        match entry.statement:
            case DecisionStatement() as said:
                decisions.setdefault(said.bundle, []).append((entry, said))
            case Publication() as said:
                published.setdefault(said.bundle, entry)
            case ReproductionStatement() as said:
                reproductions.setdefault(said.bundle, []).append((entry, said))
    return [
        BundleStanding(bundle, tuple(made), published.get(bundle), tuple(reproductions.get(bundle, ())))
        for bundle, made in decisions.items()
    ]
