"""Runs a command beside a Docker engine: the one that answers already, or Debian's own, started for it alone.

    python scripts/with_docker_engine.py COMMAND [ARGUMENT...]

Starting one takes root; where `dockerd` is missing it is installed with apt-get. The engine keeps to a temporary folder
and changes no network settings; containers that the tests make have no network anyway.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import docker

PATIENCE_S = 60.0


def main() -> int:
    if answers():
        return subprocess.run(sys.argv[1:], check=False).returncode
    if os.getuid() != 0:
        sys.exit("no Docker engine answers, and only root can start one. Start one, or set DOCKER_HOST")
    engine = shutil.which("dockerd") or install()
    with tempfile.TemporaryDirectory(prefix="podium-engine-", ignore_cleanup_errors=True) as folder:
        return run_beside(engine, Path(folder))


def answers() -> bool:
    try:
        client = docker.from_env()
    except docker.errors.DockerException:
        return False
    client.close()
    return True


def install() -> str:
    print("docker: installing Debian's docker.io", file=sys.stderr)
    quiet = {"DEBIAN_FRONTEND": "noninteractive", **os.environ}
    subprocess.run(["apt-get", "update", "-qq"], check=False, env=quiet)
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "docker.io"]
    if subprocess.run(command, check=False, env=quiet).returncode:
        sys.exit("docker.io could not be installed. Install an engine, or set DOCKER_HOST")
    return shutil.which("dockerd") or sys.exit("docker.io is installed, but there is no dockerd")


def run_beside(engine: str, folder: Path) -> int:
    address = f"unix://{folder}/socket"
    command = [engine, "--iptables=false", "--bridge=none", "--exec-opt", "native.cgroupdriver=cgroupfs"]
    command += ["--data-root", str(folder / "data"), "--exec-root", str(folder / "exec"), "--host", address]
    command += ["--pidfile", str(folder / "pid")]
    os.environ["DOCKER_HOST"] = address
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as started:
        try:
            until = time.monotonic() + PATIENCE_S
            while not answers():
                if started.poll() is not None or time.monotonic() > until:
                    sys.exit(f"the engine does not start:\n{(folder / 'log').read_text()[-2000:]}")
                time.sleep(0.2)
            return subprocess.run(sys.argv[1:], check=False).returncode
        finally:
            started.terminate()
            started.wait()


if __name__ == "__main__":
    sys.exit(main())
