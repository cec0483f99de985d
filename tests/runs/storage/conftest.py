"""A real S3 API: moto's server in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def s3_bucket() -> Iterator[str]:
    """A bucket of a server that `AWS_ENDPOINT_URL` leads to while the fixture lives."""
    pytest.importorskip("moto")
    import boto3

    server = subprocess.Popen(
        [sys.executable, "-c", "from moto.server import main; main(['-p', '0', '-H', '127.0.0.1'])"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    port = next(line.rpartition(":")[2].strip() for line in server.stderr if "Running on" in line)
    before = dict(os.environ)
    os.environ |= {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    try:
        boto3.client("s3").create_bucket(Bucket="podium")
        yield "podium"
    finally:
        os.environ.clear()
        os.environ.update(before)
        server.kill()
        server.wait()
        server.stderr.close()
