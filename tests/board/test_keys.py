"""Keys and signatures: only who holds the key can sign, only what was signed is accepted."""

from __future__ import annotations

from pathlib import Path

import pytest

from podium.board.keys import Signed, canonical, make_key, parse_canonical, read_key, write_key
from podium.errors import BoardError, UsageError


def test_a_key_is_written_for_its_owner_alone_and_never_replaced(tmp_path: Path) -> None:
    path, key = tmp_path / "deep" / "key.pem", make_key()
    write_key(key, path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_key(path).public == key.public
    with pytest.raises(UsageError, match="never overwritten"):
        write_key(make_key(), path)


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    write_key(make_key(), path)
    path.chmod(0o644)
    with pytest.raises(BoardError, match="chmod 600"):
        read_key(path)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"x" * 10_000])
def test_a_file_that_is_not_a_key_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(BoardError):
        read_key(path)
    with pytest.raises(BoardError, match="podium key new"):
        read_key(tmp_path / "missing.pem")


def test_a_signature_fits_its_statement_and_its_key_alone() -> None:
    signed = make_key().sign({"score": 1})
    assert Signed.from_dict(signed.to_dict()) == signed
    changed: list[dict[str, object]] = [
        {"statement": {"score": 2}},
        {"key": make_key().public},
        {"signature": "0" * 128},
        {"signature": signed.signature.upper()},
        {"more": 1},
        {"statement": [1]},
    ]
    for change in changed:
        with pytest.raises(BoardError):
            Signed.from_dict({**signed.to_dict(), **change})


@pytest.mark.parametrize(
    "data", [b'{"a":1,"a":2}', b'{"a": 1}', b'{"b":1,"a":1}', b'{"a":NaN}', b"[" * 100_000, b"\xff"]
)
def test_only_the_canonical_form_is_read(data: bytes) -> None:
    with pytest.raises(BoardError):
        parse_canonical(data)
    assert parse_canonical(canonical({"a": [1.5, None, "é"]})) == {"a": [1.5, None, "é"]}
