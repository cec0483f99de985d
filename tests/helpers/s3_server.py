"""A real S3 API: moto's server in a process of its own, behind a relay that can be cut."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

BUCKET = "podium"


class Relay:
    """Carries connections to the server; while it is cut, nobody is answered."""

    def __init__(self, port: int) -> None:
        self._server_port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._is_cut = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self._is_cut.set()
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self._is_cut.clear()

    def close(self) -> None:
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self._is_cut.is_set():
                client.close()
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self._server_port))
            except OSError:  # at the end
                client.close()
                return
            self._open |= {client, server}
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            self._open.discard(end)
            end.close()


@contextmanager
def s3_server() -> Iterator[Relay]:
    """A server with an empty bucket, which `AWS_ENDPOINT_URL` leads to while the block runs."""
    import boto3

    program = "from moto.server import main; main(['-p', '0', '-H', '127.0.0.1'])"
    server = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    port = next(line.rpartition(":")[2].strip() for line in server.stderr if "Running on" in line)
    reading = threading.Thread(target=server.stderr.read, daemon=True)
    reading.start()
    relay = Relay(int(port))
    before = dict(os.environ)
    os.environ |= {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{relay.port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    try:
        boto3.client("s3").create_bucket(Bucket=BUCKET)
        yield relay
    finally:
        os.environ.clear()
        os.environ.update(before)
        relay.close()
        server.kill()
        server.wait()
        reading.join()
        server.stderr.close()
