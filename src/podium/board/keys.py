"""Ed25519 keys and signed statements."""

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
"""Domain separator: signed before every statement, so that other signatures are never valid here."""
HEX64 = re.compile(r"[0-9a-f]{64}")
_KEY_BYTES = 4096


@dataclass(frozen=True)
class Key:
    """Private key. Its public key, 64 hexadecimal digits, identifies the owner."""

    private: Ed25519PrivateKey

    @property
    def public(self) -> str:
        return bytes(self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).hex()

    def sign(self, statement: dict[str, Any]) -> Signed:
        """Sign a statement."""
        return Signed(statement, self.public, self.private.sign(PREFIX + canonical(statement)).hex())


@dataclass(frozen=True)
class Signed:
    """Statement with its author's public key and signature."""

    statement: dict[str, Any]
    key: str
    signature: str

    @property
    def digest(self) -> str:
        """Hash of the statement and its key, which identifies the signed statement."""
        return hashlib.sha256(canonical({"key": self.key, "statement": self.statement})).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        return {"statement": self.statement, "key": self.key, "signature": self.signature}

    @classmethod
    def from_dict(cls, document: Any) -> Signed:
        """Parse an untrusted signed statement and verify its signature.

        Raises:
            BoardError: It is not a signed statement, or the signature is not the key's.
        """
        match document:
            case {"statement": dict(statement), "key": str(key), "signature": str(signature), **more} if not more:
                check_signature(statement, key, signature)
                return cls(statement, key, signature)
        raise BoardError("A signed statement must have exactly the fields statement, key and signature.")


def check_signature(statement: dict[str, Any], key: str, signature: str) -> None:
    """
    Raises:
        BoardError: The key did not sign this statement.
    """
    if not HEX64.fullmatch(key) or not re.fullmatch(r"[0-9a-f]{128}", signature):
        raise BoardError("A key must have 64 hexadecimal digits, a signature 128.")
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
        public.verify(bytes.fromhex(signature), PREFIX + canonical(statement))
    except (InvalidSignature, ValueError) as error:
        raise BoardError(f"The signature is invalid: key {key[:16]} did not sign this statement.") from error


def canonical(document: Any) -> bytes:
    """Serialise a JSON document in canonical form, for signing and hashing.

    >>> canonical({"b": 1, "a": [True, "é"]})
    b'{"a":[true,"\\\\u00e9"],"b":1}'

    Raises:
        BoardError: It contains numbers that JSON lacks, or is nested too deeply.
    """
    try:
        return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")
    except (ValueError, RecursionError) as error:
        raise BoardError(f"The document cannot be written as JSON: {error}.") from error


def parse_canonical(data: bytes) -> Any:
    """Parse a canonical JSON document, which has only one interpretation.

    Raises:
        BoardError: The bytes are not in canonical form, for instance because of a duplicate key.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BoardError(f"The document is not JSON: {error}.") from error
    if canonical(document) != data:
        raise BoardError("The JSON is not in canonical form: sorted keys, no spaces, no duplicate keys.")
    return document


def make_key() -> Key:
    """Generate a key."""
    return Key(Ed25519PrivateKey.generate())


def write_key(key: Key, path: Path) -> None:
    """Write a key to a new file that only its owner can read.

    Raises:
        UsageError: The file exists.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    data = key.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError as error:
        raise UsageError(f"{path} already exists and keys are never overwritten. Choose another --key.") from error
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def read_key(path: Path) -> Key:
    """Read the key in a file.

    Raises:
        BoardError: The file is missing, is not an Ed25519 key, or is readable by others.
    """
    try:
        data = read_regular(path, _KEY_BYTES)
        mode = path.stat().st_mode
    except OSError as error:
        hint = f"Create a key with: podium key new --key {path}"
        raise BoardError(f"The key {path} cannot be read ({error.strerror}). {hint}") from error
    if mode & 0o077:
        raise BoardError(f"{path} is readable by others (mode {mode & 0o777:o}). Run: chmod 600 {path}")
    try:
        private = load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise BoardError(f"{path} is not an unencrypted private key: {error}") from error
    if not isinstance(private, Ed25519PrivateKey):
        raise BoardError(f"{path} is not an Ed25519 key. Create one with: podium key new")
    return Key(private)


def default_key() -> Path:
    """Return the default path of the user's key."""
    import platformdirs

    return Path(platformdirs.user_config_dir("podium"), "key.pem")
