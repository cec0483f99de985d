"""Runs a command beside a Slurm of this machine alone: Debian's own, started for it and stopped afterwards.

    python scripts/with_slurm.py COMMAND [ARGUMENT...]

Takes root; where `slurmctld` is missing it is installed with apt-get. Everything lies in a temporary folder.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

PATIENCE_S = 60.0
PACKAGES = ("slurm-wlm", "munge")
SETTINGS = """
ClusterName=podium
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def main() -> int:
    if os.getuid() != 0:
        sys.exit("only root can start Slurm")
    if shutil.which("slurmctld") is None or shutil.which("munged") is None:
        install()
    with tempfile.TemporaryDirectory(prefix="podium-slurm-", ignore_cleanup_errors=True) as name, ExitStack() as stack:
        folder = Path(name)
        os.environ["SLURM_CONF"] = str(write_settings(folder))
        for command in commands(folder):
            stack.enter_context(started(command, folder))
        wait_until_idle(folder)
        return subprocess.run(sys.argv[1:], check=False).returncode


def install() -> None:
    print(f"slurm: installing Debian's {' and '.join(PACKAGES)}", file=sys.stderr)
    quiet = {"DEBIAN_FRONTEND": "noninteractive", **os.environ}
    subprocess.run(["apt-get", "update", "-qq"], check=False, env=quiet)
    if subprocess.run(["apt-get", "install", "-y", "-qq", *PACKAGES], check=False, env=quiet).returncode:
        sys.exit(f"{' and '.join(PACKAGES)} could not be installed")


def write_settings(folder: Path) -> Path:
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(64))
    path = folder / "slurm.conf"
    host = socket.gethostname().partition(".")[0]
    path.write_text(SETTINGS.format(folder=folder, host=host, ports=free_ports(2), cores=os.cpu_count()))
    return path


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in found:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in found]


def commands(folder: Path) -> list[list[str]]:
    files = {"socket": "socket", "key-file": "key", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
    munge = [f"--{option}={folder}/munge.{suffix}" for option, suffix in files.items()]
    return [["munged", "--foreground", "--force", *munge], ["slurmctld", "-D", "-i"], ["slurmd", "-D"]]


@contextmanager
def started(command: list[str], folder: Path) -> Iterator[None]:
    log = folder / f"{command[0]}.out"
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            yield
        finally:
            process.terminate()


def wait_until_idle(folder: Path) -> None:
    until = time.monotonic() + PATIENCE_S
    while subprocess.run(["sinfo", "-h", "-o", "%t"], capture_output=True, text=True, check=False).stdout != "idle\n":
        if time.monotonic() > until:
            logs = "\n".join(path.read_text()[-1000:] for path in folder.glob("*.out"))
            sys.exit(f"Slurm does not start:\n{logs}")
        time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main())
