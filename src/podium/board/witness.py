"""Outside witnesses of a board's head: a time-stamping authority (RFC 3161), or a git repository that others can read.

What a witness has seen, the keeper of a board cannot date back or take back.
"""

from __future__ import annotations

import subprocess
import urllib.error
import urllib.request
from pathlib import Path

from podium.board.keys import canonical
from podium.board.ledger import read_head
from podium.errors import BoardError, UnreachableError, UsageError

TIMEOUT_S = 30.0
ANSWER_BYTES = 1 << 20


def stamp_head(board: Path, address: str) -> Path:
    """Has the head of a board stamped by a time-stamping authority; the stamp is kept in `witness/`.

    Raises:
        UnreachableError: the authority does not answer.
        BoardError: its answer is not a stamp of this head.
    """
    from rfc3161_client import HashAlgorithm, TimestampRequestBuilder, decode_timestamp_response

    signed, head = read_head(board)
    data = canonical(signed.to_dict())
    asked = TimestampRequestBuilder().data(data).hash_algorithm(HashAlgorithm.SHA256).nonce(nonce=True).build()
    answer = _post(address, asked.as_bytes())
    try:
        stamp = decode_timestamp_response(answer)
        seen = bytes(stamp.tst_info.message_imprint.message)
        fits = (
            stamp.status == 0 and seen == bytes(asked.message_imprint.message) and stamp.tst_info.nonce == asked.nonce
        )
    except ValueError as error:
        raise BoardError(f"{address} does not answer with a time stamp: {error}") from error
    if not fits:
        raise BoardError(f"The answer of {address} is not a stamp of this head.")
    target = board / "witness" / f"{head.size:010}.tsr"
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(answer)
    target.with_suffix(".json").write_bytes(data)
    return target


def _post(address: str, body: bytes) -> bytes:
    request = urllib.request.Request(address, data=body, headers={"Content-Type": "application/timestamp-query"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            return bytes(answer.read(ANSWER_BYTES))
    except (OSError, ValueError) as error:
        raise UnreachableError(f"{address} cannot be reached: {error}") from error


def check_stamp(stamp: Path, root: Path) -> str:
    """When an authority saw the head beside a stamp, in words.

    Args:
        root: the authority's root certificate, in PEM.

    Raises:
        BoardError: the stamp is not one of that head by that authority.
    """
    from cryptography.x509 import load_pem_x509_certificate
    from rfc3161_client import VerificationError, VerifierBuilder, decode_timestamp_response

    certificate = load_pem_x509_certificate(root.read_bytes())
    try:
        found = decode_timestamp_response(stamp.read_bytes())
        verifier = VerifierBuilder().add_root_certificate(certificate).build()
        verifier.verify_message(found, stamp.with_suffix(".json").read_bytes())
    except (VerificationError, ValueError, OSError) as error:
        raise BoardError(f"{stamp} proves nothing: {error}") from error
    return str(found.tst_info.gen_time)


def push_head(board: Path, remote: str) -> None:
    """Commits the public files of a board that lies in a git repository, and pushes them where others can see them.

    Raises:
        UsageError: git refuses; its words say why.
    """
    for arguments in (["add", "-A", "."], ["commit", "-q", "-m", "board: new head"], ["push", "-q", remote, "HEAD"]):
        done = subprocess.run(["git", "-C", str(board), *arguments], capture_output=True, text=True)
        nothing = arguments[0] == "commit" and "nothing" in done.stdout + done.stderr
        if done.returncode and not nothing:
            raise UsageError(f"git {arguments[0]} fails in {board}: {(done.stderr or done.stdout).strip()[:500]}")
