"""Registers an experiment before its first run, and keeps the board's receipts beside it.

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

REGISTRATION_FILE = "registration.json"
RECEIPTS = "receipts.jsonl"
_RECEIPTS_BYTES = 1 << 30
_BESIDE_THE_METHOD = {"data_dir", "env", "prices", "total_tokens", "total_cost"}
"""Parts of a plan that can be changed at will and leave results as they are."""


class RegistrationDocument(BaseModel):
    """`registration.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    board: str
    """Its address."""
    board_key: str
    id: str
    """The digest of the registration."""
    signed: dict[str, Any]
    receipt: dict[str, Any]


def plan_sha256(plan: Plan) -> str:
    """The identity of a plan."""
    return hashlib.sha256(canonical(plan.model_dump(mode="json"))).hexdigest()


def method_sha256(plan: Plan) -> str:
    """What two plans share that differ only in what decides no result: a second try with another folder is one too."""
    return hashlib.sha256(canonical(plan.model_dump(mode="json", exclude=_BESIDE_THE_METHOD))).hexdigest()


def read_registration(folder: Path) -> RegistrationDocument | None:
    """The registration of an experiment, if it has one."""
    return read_document(folder / REGISTRATION_FILE, RegistrationDocument)


def register(experiment: Experiment, board: Board, key: Key) -> RegistrationDocument:
    """Makes an experiment known to a board before it begins; one that is registered there already is left as it is.

    Raises:
        UsageError: it has begun, or was registered elsewhere or by somebody else.
        BoardError: the board refuses or does not answer.
    """
    known = read_registration(experiment.folder)
    if known is not None:
        _check_known(known, experiment, board, key)
        return known
    if any(os.path.lexists(run.journal) for run in experiment.runs()):
        raise UsageError(
            f"{experiment.folder} has begun: an experiment is registered before its first run. Give another --out."
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
            f"{experiment.folder} was registered on {known.board} with key {signed.key[:16]}. Repeat both, or start "
            "another experiment with another --out."
        )
    said = Registration.model_validate(signed.statement)
    if tuple(said.tasks) != experiment.tasks or said.seeds != experiment.seeds:
        raise UsageError(
            f"{experiment.folder} was registered with {len(said.tasks)} tasks and {said.seeds} seeds; "
            "tasks and seeds cannot be added later. Give another --out."
        )


def read_receipts(folder: Path) -> Iterator[dict[str, Any]]:
    """The receipts of an experiment's anchors; a line that a killed process left half written is passed over."""
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
    """Keeps a receipt."""
    with os.fdopen(open_regular(folder / RECEIPTS, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab") as file:
        file.write(json.dumps(receipt).encode() + b"\n")
