"""Small boards and what is said on them."""

from __future__ import annotations

from typing import NamedTuple

from podium.board.board_client import FolderBoard
from podium.board.keys import Key, Signed, make_key
from podium.board.ledger.ledger import Ledger
from podium.board.ledger.statements import Anchor, Registration, sign
from podium.board.register import RegistrationDocument
from podium.runs.experiment import Experiment

PUBLISHER = make_key()
ZERO = "0" * 64
TASK = "spaceship-titanic"
SCRIPT = """
import pandas as pd

train = pd.read_csv("/home/data/train.csv")
test = pd.read_csv("/home/data/test.csv")
asleep = train.groupby("CryoSleep").Transported.mean()
test["Transported"] = test.CryoSleep.map(asleep).fillna(0.5) > 0.5
test[["PassengerId", "Transported"]].to_csv("/home/submission/submission.csv", index=False)
"""


class Registered(NamedTuple):
    experiment: Experiment
    board: FolderBoard
    registration: RegistrationDocument


def registration(ledger: Ledger, number: int = 0, key: Key = PUBLISHER) -> Signed:
    """A registration, another one for each number."""
    said = Registration(
        board=ledger.key.public,
        plan_sha256=ZERO,
        tasks=[TASK],
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
        task=TASK,
        seed=0,
        lines=1,
        head=ZERO,
        state="started",
    )
    return sign(said, key)
