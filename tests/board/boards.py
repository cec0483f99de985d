"""Small boards and what is said on them."""

from __future__ import annotations

from podium.board.keys import Key, Signed, make_key
from podium.board.ledger import Ledger
from podium.board.statements import Anchor, Registration, sign

PUBLISHER = make_key()
ZERO = "0" * 64


def registration(ledger: Ledger, number: int = 0, key: Key = PUBLISHER) -> Signed:
    """A registration, another one for each number."""
    said = Registration(
        board=ledger.key.public,
        plan_sha256=ZERO,
        tasks=["spaceship-titanic"],
        seeds=1,
        data={},
        podium="0.1.0",
        podium_sha256=ZERO,
        nonce=f"{number:032x}",
    )
    return sign(said, key)


def anchor(ledger: Ledger, registered: Signed, key: Key = PUBLISHER) -> Signed:
    """An anchor of a registered run."""
    said = Anchor(
        board=ledger.key.public,
        registration=registered.digest,
        task="spaceship-titanic",
        seed=0,
        lines=1,
        head=ZERO,
        state="started",
    )
    return sign(said, key)
