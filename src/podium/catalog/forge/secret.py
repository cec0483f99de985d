"""Secret from which fresh tasks are drawn; only the data home has it until it is revealed.

The task's id commits to it, so that it cannot be exchanged later. Only its maker could try, with a search for two
secrets that have one id; at 128 bits of commitment that takes 2^64 attempts, at 64 bits it would take minutes.
"""

from __future__ import annotations

import base64
import hmac
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.data.home import home
from podium.errors import UsageError

if TYPE_CHECKING:
    from podium.catalog.forge.forge_ids import ForgeId

SECRET_BYTES = 20
COMMITMENT_BYTES = 16


@dataclass(frozen=True)
class Secret:
    """160 random bits."""

    key: bytes = field(repr=False)

    def __str__(self) -> str:
        return _letters(self.key)

    def commitment(self, purpose: str) -> str:
        """Return 26 letters and digits that commit to the secret without revealing it."""
        return _letters(self._derived(f"commitment {purpose}")[:COMMITMENT_BYTES])

    def generator(self, purpose: str) -> np.random.Generator:
        """Return the random generator for a purpose."""
        return _Streams(self._derived(f"stream {purpose}"))

    def _derived(self, purpose: str) -> bytes:
        return hmac.digest(self.key, f"podium forge {purpose}".encode(), "sha256")


def new_secret() -> Secret:
    """Return a new random secret."""
    return Secret(secrets.token_bytes(SECRET_BYTES))


def parse_secret(text: str) -> Secret:
    """Parse a secret in the form of `str(secret)`."""
    try:
        key = base64.b32decode(text.strip().upper())
    except ValueError:
        key = b""
    if len(key) != SECRET_BYTES:
        raise UsageError(
            "This is not the secret of a forged task: it must have 32 letters and digits. Copy it completely."
        )
    return Secret(key)


def save_secret(task: ForgeId, secret: Secret) -> None:
    """Write a secret to a file that only its owner can read."""
    path = _place(str(task))
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(f"{secret}\n")
        file.flush()
        os.fsync(file.fileno())


def read_secret(task: ForgeId) -> Secret:
    """Read the secret of a task that was made on this machine.

    Raises:
        UsageError: if the task was made elsewhere, or its seed is public.
    """
    if not task.is_secret:
        raise UsageError(f"{task} has no secret: it is drawn from the seed in its id.")
    path = _place(str(task))
    try:
        return parse_secret(path.read_text(encoding="ascii"))
    except FileNotFoundError:
        raise UsageError(
            f"The secret of {task} is not in {path.parent}: the task was made elsewhere. Copy its data from there or, "
            f"once the secret is published, run: podium forge {task} --from-secret SECRET"
        ) from None


def _place(task_id: str) -> Path:
    return home() / "secrets" / task_id


def _letters(key: bytes) -> str:
    return base64.b32encode(key).decode("ascii").rstrip("=").lower()


class _Streams(np.random.Generator):
    """Generator that draws each call from a separate stream.

    The state behind a public column can be recovered for numpy's generators, but it reveals nothing else: streams are
    keyed by a hash of the secret and of their number.
    """

    def __init__(self, key: bytes) -> None:
        super().__init__(np.random.Philox(0))
        self._key, self._calls = key, 0

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("_"):
            return super().__getattribute__(name)
        self._calls += 1
        stream = hmac.digest(self._key, str(self._calls).encode(), "sha256")
        return getattr(np.random.Generator(np.random.Philox(key=int.from_bytes(stream[:16], "little"))), name)
