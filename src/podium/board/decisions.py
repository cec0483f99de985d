"""What the keeper of a board decides, and what stands after all decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from podium.board.ledger import Entry, Ledger, Receipt
from podium.board.statements import Decision, Publication, Reproduction, sign
from podium.errors import BoardError

Verdict = Literal["accepted", "refused", "removed", "rescored"]


def decide(board: Path, bundle: str, verdict: Verdict, reason: str, *, row: dict[str, Any] | None = None) -> Receipt:
    """Appends a decision about a bundle, signed with the board's key.

    Raises:
        BoardError: there is no such bundle to be removed.
    """
    ledger = Ledger(board)
    try:
        if verdict == "removed" and not ledger.index.is_known(bundle):
            raise BoardError(f"There is no bundle {bundle} on this board.")
        said = Decision(board=ledger.key.public, bundle=bundle, verdict=verdict, reason=reason, row=row)
        [receipt] = ledger.append(sign(said, ledger.key))
    finally:
        ledger.close()
    return receipt


@dataclass(frozen=True)
class Standing:
    """A bundle as the ledger leaves it: the last decision counts, all of them are shown."""

    bundle: str
    decisions: tuple[tuple[Entry, Decision], ...]
    published: Entry | None
    reproductions: tuple[tuple[Entry, Reproduction], ...]

    @property
    def last(self) -> Decision:
        return self.decisions[-1][1]

    @property
    def stands(self) -> bool:
        return self.last.verdict in ("accepted", "rescored")

    @property
    def row(self) -> dict[str, Any]:
        """The newest row; a removal does not bring one."""
        return next((said.row for _, said in reversed(self.decisions) if said.row is not None), {})


def standings(entries: Sequence[Entry]) -> list[Standing]:
    """Every bundle that was decided about, in the order of the first decisions."""
    decisions: dict[str, list[tuple[Entry, Decision]]] = {}
    published: dict[str, Entry] = {}
    reproductions: dict[str, list[tuple[Entry, Reproduction]]] = {}
    for entry in entries:
        match entry.statement:
            case Decision() as said:
                decisions.setdefault(said.bundle, []).append((entry, said))
            case Publication() as said:
                published.setdefault(said.bundle, entry)
            case Reproduction() as said:
                reproductions.setdefault(said.bundle, []).append((entry, said))
    return [
        Standing(bundle, tuple(made), published.get(bundle), tuple(reproductions.get(bundle, ())))
        for bundle, made in decisions.items()
    ]
