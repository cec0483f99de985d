"""Ed25519 keys and signed statements: who says something, and that nobody changed it since."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from podium.errors import BoardError, UsageError
from podium.safefs.open_nofollow import read_regular

PREFIX = b"podium board statement 1\n"
"""Signed before every statement, so that a signature made for something else never fits."""
HEX64 = re.compile(r"[0-9a-f]{64}")
_KEY_BYTES = 4096


@dataclass(frozen=True)
class Key:
    """A private key. Its public half, 64 hexadecimal digits, is the name of whoever holds it."""

    private: Ed25519PrivateKey

    @property
    def public(self) -> str:
        return bytes(self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).hex()

    def sign(self, statement: dict[str, Any]) -> Signed:
        """The statement with this key's signature."""
        return Signed(statement, self.public, self.private.sign(PREFIX + canonical(statement)).hex())


@dataclass(frozen=True)
class Signed:
    """A statement, who made it, and the signature."""

    statement: dict[str, Any]
    key: str
    signature: str

    @property
    def digest(self) -> str:
        """The statement's identity; the same statement by another key has another."""
        return hashlib.sha256(canonical({"key": self.key, "statement": self.statement})).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        return {"statement": self.statement, "key": self.key, "signature": self.signature}

    @classmethod
    def from_dict(cls, document: Any) -> Signed:
        """What a stranger sent, once its signature was checked.

        Raises:
            BoardError: it is not a signed statement, or the signature is not the key's.
        """
        match document:
            case {"statement": dict(statement), "key": str(key), "signature": str(signature), **more} if not more:
                check_signature(statement, key, signature)
                return cls(statement, key, signature)
        raise BoardError("This is not a signed statement: it needs statement, key and signature, and nothing else.")


def check_signature(statement: dict[str, Any], key: str, signature: str) -> None:
    """
    Raises:
        BoardError: the key did not sign this statement.
    """
    if not HEX64.fullmatch(key) or not re.fullmatch(r"[0-9a-f]{128}", signature):
        raise BoardError("A key has 64 hexadecimal digits, a signature 128.")
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
        public.verify(bytes.fromhex(signature), PREFIX + canonical(statement))
    except (InvalidSignature, ValueError) as error:
        raise BoardError(f"The signature does not fit: key {key[:16]} did not sign this statement.") from error


def canonical(document: Any) -> bytes:
    """The one way to write a JSON document: what is signed and hashed.

    >>> canonical({"b": 1, "a": [True, "é"]})
    b'{"a":[true,"\\\\u00e9"],"b":1}'

    Raises:
        BoardError: it holds numbers that JSON does not have, or is nested too deep.
    """
    try:
        return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")
    except (ValueError, RecursionError) as error:
        raise BoardError(f"This cannot be written as JSON: {error}.") from error


def parse_canonical(data: bytes) -> Any:
    """A document that was written by `canonical`; two readers can never see different things in it.

    Raises:
        BoardError: the bytes are not the canonical ones, for instance because a name stands there twice.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BoardError(f"This is not JSON: {error}.") from error
    if canonical(document) != data:
        raise BoardError("This JSON is not in canonical form: sorted names, no spaces, no name twice.")
    return document


def make_key() -> Key:
    """A new key."""
    return Key(Ed25519PrivateKey.generate())


def write_key(key: Key, path: Path) -> None:
    """Writes a key where only its owner can read it; never over an existing file.

    Raises:
        UsageError: the file exists.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    data = key.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError as error:
        raise UsageError(f"{path} exists. A key is never replaced: give another --key.") from error
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def read_key(path: Path) -> Key:
    """The key in a file.

    Raises:
        BoardError: there is none, it is not an Ed25519 key, or others can read it.
    """
    try:
        data = read_regular(path, _KEY_BYTES)
        mode = path.stat().st_mode
    except OSError as error:
        hint = f"Make one with: podium key new --key {path}"
        raise BoardError(f"There is no key in {path} ({error.strerror}). {hint}") from error
    if mode & 0o077:
        raise BoardError(f"Others can read {path} (mode {mode & 0o777:o}). Run: chmod 600 {path}")
    try:
        private = load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise BoardError(f"{path} does not hold a private key without a password: {error}") from error
    if not isinstance(private, Ed25519PrivateKey):
        raise BoardError(f"{path} holds another kind of key. Podium signs with Ed25519: podium key new")
    return Key(private)


def default_key() -> Path:
    """Where a person's key lies."""
    import platformdirs

    return Path(platformdirs.user_config_dir("podium"), "key.pem")
