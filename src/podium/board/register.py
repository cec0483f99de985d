"""Registration of an experiment before its first run, and the board's receipts beside it.

EXPERIMENT/registration.json   what was registered, where, and the receipt
EXPERIMENT/receipts.jsonl      a receipt for each anchor
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from podium.board.board_client import Board
from podium.board.keys import Key, Signed, canonical
from podium.board.ledger.statements import Registration, sign
from podium.board.provenance import podium_sha256
from podium.errors import BoardError, UsageError
from podium.runs.attempt.grade_run import prepared_task
from podium.runs.experiment import Experiment
from podium.runs.records import Plan
from podium.runs.run_folder import read_document
from podium.runs.versions import versions
from podium.safefs.atomic_files import write_atomically
from podium.safefs.open_nofollow import open_regular, read_regular
from podium.text import plural

REGISTRATION_FILE = "registration.json"
RECEIPTS = "receipts.jsonl"
_RECEIPTS_BYTES = 1 << 30
_BESIDE_THE_METHOD = {"data_dir", "env", "prices", "total_tokens", "total_cost"}
"""Parts of a plan that do not affect results."""


class RegistrationDocument(BaseModel):
    """Content of `registration.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    board: str
    """Address of the board."""
    board_key: str
    id: str
    """Digest of the registration."""
    signed: dict[str, Any]
    receipt: dict[str, Any]


def plan_sha256(plan: Plan) -> str:
    """Return the hash that identifies a plan."""
    return hashlib.sha256(canonical(plan.model_dump(mode="json"))).hexdigest()


def method_sha256(plan: Plan) -> str:
    """Return the hash of the parts of a plan that affect results, so that a retry in another folder is recognised."""
    return hashlib.sha256(canonical(plan.model_dump(mode="json", exclude=_BESIDE_THE_METHOD))).hexdigest()


def read_registration(folder: Path) -> RegistrationDocument | None:
    """Return the registration of an experiment, if it has one."""
    return read_document(folder / REGISTRATION_FILE, RegistrationDocument)


def register(experiment: Experiment, board: Board, key: Key) -> RegistrationDocument:
    """Register an experiment on a board before its first run, unless it is already registered there.

    Raises:
        UsageError: The experiment has started, or was registered elsewhere or with another key.
        BoardError: The board refuses or does not respond.
    """
    known = read_registration(experiment.folder)
    if known is not None:
        _check_known(known, experiment, board, key)
        return known
    if any(os.path.lexists(run.journal) for run in experiment.runs()):
        raise UsageError(
            f"{experiment.folder} has already started and cannot be registered any more. Choose another --out."
        )
    signed = sign(_statement(experiment, board), key)
    receipt = board.append(signed)
    document = RegistrationDocument(
        board=board.address,
        board_key=board.key,
        id=signed.digest,
        signed=signed.to_dict(),
        receipt=receipt.to_dict(),
    )
    write_atomically(
        experiment.folder / REGISTRATION_FILE, json.dumps(document.model_dump(mode="json"), indent=1) + "\n"
    )
    return document


def _statement(experiment: Experiment, board: Board) -> Registration:
    plan = experiment.plan
    return Registration(
        board=board.key,
        plan_sha256=plan_sha256(plan),
        method_sha256=method_sha256(plan),
        tasks=list(experiment.tasks),
        seeds=experiment.seeds,
        data={task: prepared_task(task, plan).data_sha256 for task in experiment.tasks},
        podium=versions()["podium"],
        podium_sha256=podium_sha256(),
        nonce=secrets.token_hex(16),
    )


def _check_known(known: RegistrationDocument, experiment: Experiment, board: Board, key: Key) -> None:
    signed = Signed.from_dict(known.signed)
    if known.board_key != board.key or signed.key != key.public:
        raise UsageError(
            f"{experiment.folder} was registered on {known.board} with key {signed.key[:16]}. Use the same board and "
            "key, or choose another --out."
        )
    said = Registration.model_validate(signed.statement)
    if tuple(said.tasks) != experiment.tasks or said.seeds != experiment.seeds:
        raise UsageError(
            f"{experiment.folder} was registered with {plural(len(said.tasks), 'task')} and "
            f"{plural(said.seeds, 'seed')}; these cannot be changed later. Choose another --out."
        )


def read_receipts(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the receipts of an experiment's anchors, skipping a line that a killed process left incomplete."""
    path = folder / RECEIPTS
    if not os.path.lexists(path):
        return
    try:
        data = read_regular(path, _RECEIPTS_BYTES)
    except OSError as error:
        raise BoardError(f"{path} cannot be read: {error.strerror}.") from error
    for line in data.split(b"\n"):
        try:
            document = json.loads(line)
        except ValueError:
            continue
        if isinstance(document, dict):
            yield document


def add_receipt(folder: Path, receipt: dict[str, Any]) -> None:
    """Append a receipt."""
    with os.fdopen(open_regular(folder / RECEIPTS, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab") as file:
        file.write(json.dumps(receipt).encode() + b"\n")
