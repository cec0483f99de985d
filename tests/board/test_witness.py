"""Outside witnesses, against stand-ins on this machine: an authority made with openssl, a bare git repository."""

from __future__ import annotations

import datetime
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from boards import registration
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from podium.board.ledger import Ledger, make_board
from podium.board.witness import check_stamp, push_head, stamp_head
from podium.errors import BoardError, UnreachableError, UsageError

CONFIG = """
[tsa]
default_tsa = one
[one]
serial = {folder}/serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha512
accuracy = secs:1
ess_cert_id_alg = sha256
"""


def certificate(folder: Path, name: str, issuer: tuple[x509.Certificate, rsa.RSAPrivateKey] | None) -> None:
    """Writes a root, or the certificate of an authority below it."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    signer = issuer[1] if issuer else key
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer[0].subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=10))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
    if issuer:
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING])
        builder = builder.add_extension(usage, critical=True)
    made = builder.sign(signer, hashes.SHA256())
    (folder / f"{name}.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    (folder / f"{name}.key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    )
    if not issuer:
        certificate(folder, "authority", (made, key))


@pytest.fixture
def authority(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of a time-stamping authority, and its root certificate."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path / "authority"
    folder.mkdir()
    certificate(folder, "root", None)
    (folder / "serial").write_text("01")
    (folder / "tsa.cnf").write_text(CONFIG.format(folder=folder))

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            (folder / "query").write_bytes(self.rfile.read(int(self.headers["Content-Length"])))
            signer = ["-signer", folder / "authority.pem", "-inkey", folder / "authority.key"]
            command = [
                "openssl",
                "ts",
                "-reply",
                "-config",
                folder / "tsa.cnf",
                "-queryfile",
                folder / "query",
                *signer,
            ]
            subprocess.run([*command, "-out", folder / "reply"], check=True, capture_output=True)
            self.send_response(200)
            self.end_headers()
            self.wfile.write((folder / "reply").read_bytes())

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", folder / "root.pem"
        server.shutdown()


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = make_board(tmp_path / "board", "A board")
    ledger.append(registration(ledger))
    return ledger


def test_an_authority_stamps_the_head_and_nothing_else(ledger: Ledger, authority: tuple[str, Path]) -> None:
    address, root = authority
    stamp = stamp_head(ledger.folder, address)
    assert check_stamp(stamp, root).startswith("20")
    head = stamp.with_suffix(".json")
    head.write_bytes(head.read_bytes().replace(b'"size":1', b'"size":2'))
    with pytest.raises(BoardError, match="proves nothing"):
        check_stamp(stamp, root)
    with pytest.raises(UnreachableError):
        stamp_head(ledger.folder, "http://127.0.0.1:1/")


def test_a_head_is_pushed_to_a_repository_that_others_see(ledger: Ledger, tmp_path: Path) -> None:
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", remote], check=True)
    with pytest.raises(UsageError, match="git add fails"):
        push_head(ledger.folder, str(remote))
    subprocess.run(["git", "init", "-q", ledger.folder], check=True)
    for name, value in (("user.name", "keeper"), ("user.email", "keeper@example.org")):
        subprocess.run(["git", "-C", ledger.folder, "config", name, value], check=True)
    push_head(ledger.folder, str(remote))
    push_head(ledger.folder, str(remote))
    seen = subprocess.run(["git", "-C", remote, "ls-tree", "-r", "--name-only", "HEAD"], capture_output=True, text=True)
    assert "head.json" in seen.stdout and "private" not in seen.stdout
