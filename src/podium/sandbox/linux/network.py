"""Network of a sandbox that may use one: its own namespace, without a route to the host or its neighbours.

It either leads to the Internet, through pasta or slirp4netns (which need no privileges), or contains only a proxy to a
list of hosts. Programs have no privileges in the namespace, so this setup stays.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from podium.errors import PodiumError
from podium.sandbox.linux.proxy import own_addresses
from podium.sandbox.spec import NetworkAccess

PROXY_PORT = 3128
# A range that no network uses, neither the Internet nor a local one.
ADDRESS, GATEWAY, NAME_SERVER = "198.18.0.100", "198.18.0.2", "198.18.0.3"
RESOLV_CONF = f"nameserver {NAME_SERVER}\n"
NON_PUBLIC_NETWORKS = (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.168.0.0/16",
    "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4",
)  # fmt: skip
PATIENCE_S = 10.0
_NS_GET_USERNS = 0xB701
_TUN = Path("/dev/net/tun")
# Ends the program when our end of its standard input is closed in any way, and itself with the program.
_UNTIL_STDIN_CLOSES = '("$@"; kill 0) & read -r line; kill 0'


def find_carrier() -> str:
    """Return the program that carries a sandbox's packets: pasta or slirp4netns.

    Raises:
        PodiumError: none is installed, or it cannot work.
    """
    alternative = "Or allow single hosts, which needs no such program: --network pypi.org,files.pythonhosted.org"
    carrier = next((name for name in CARRIERS if shutil.which(name)), None)
    if carrier is None:
        raise PodiumError(
            "--network needs pasta or slirp4netns, and neither is installed. Install one (Debian, Ubuntu: apt install "
            f"passt; Fedora: dnf install passt). {alternative}"
        )
    missing = [name for name in ("ip", "nsenter") if shutil.which(name) is None]
    if missing:
        raise PodiumError(
            f"--network needs {' and '.join(missing)} (Debian, Ubuntu: apt install iproute2 util-linux). {alternative}"
        )
    if not os.access(_TUN, os.R_OK | os.W_OK):
        raise PodiumError(
            f"--network needs {_TUN}, which this user may not open. As root, run: modprobe tun; chmod 666 {_TUN}. "
            f"{alternative}"
        )
    return carrier


def proxy_environment(network: NetworkAccess) -> dict[str, str]:
    """Return variables that direct common clients to the proxy, if there is one."""
    if not isinstance(network, tuple):
        return {}
    url, local = f"http://localhost:{PROXY_PORT}", "localhost,127.0.0.1"
    names = {"http_proxy": url, "https_proxy": url, "no_proxy": local}
    return {**names, **{name.upper(): value for name, value in names.items()}}


class Helper:
    """Process that serves a sandbox from outside, and ends with this one."""

    def __init__(self, command: Sequence[str], messages: Path, *, descriptors: Sequence[int]) -> None:
        with messages.open("wb") as output:
            self._process = subprocess.Popen(
                command,
                pass_fds=descriptors,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._messages = messages

    def wait_until(self, is_ready: Callable[[], bool]) -> None:
        """Wait until the process is ready.

        Raises:
            PodiumError: it exits before it is ready, or takes too long.
        """
        deadline = time.monotonic() + PATIENCE_S
        while not is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                output = self._messages.read_text(errors="replace").strip().splitlines()[-5:]
                raise PodiumError(f"The sandbox's network does not start: {' / '.join(output) or 'no output'}")
            time.sleep(0.005)

    def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def start_proxy(listener: socket.socket, hosts: Sequence[str], messages: Path) -> Helper:
    """Start a proxy to a list of hosts, on a socket of the sandbox."""
    with listener:
        descriptor = listener.fileno()
        command = [sys.executable, "-P", "-m", "podium.sandbox.linux.proxy", str(descriptor), *hosts]
        return Helper(command, messages, descriptors=[descriptor])


def connect(pid: int, messages: Path) -> Helper:
    """Connect the network namespace of a process to the Internet.

    Raises:
        PodiumError: the network does not start.
    """
    with _namespaces(pid) as (net, owner):
        carry = CARRIERS[find_carrier()](f"/proc/self/fd/{net}", f"/proc/self/fd/{owner}")
        helper = Helper(["sh", "-c", _UNTIL_STDIN_CLOSES, "sh", *carry], messages, descriptors=[net, owner])
        try:
            helper.wait_until(lambda: _has_default_route(pid))
            _close_routes(net, owner)
        except BaseException:
            helper.stop()
            raise
    return helper


@contextlib.contextmanager
def _namespaces(pid: int) -> Iterator[tuple[int, int]]:
    """Yield descriptors of the network namespace of a process, and of the user namespace that owns it."""
    net = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        owner = fcntl.ioctl(net, _NS_GET_USERNS)  # not the process's own: bwrap creates that one later
        try:
            yield net, owner
        finally:
            os.close(owner)
    finally:
        os.close(net)


def _slirp4netns(net: str, owner: str) -> list[str]:
    # It can only seal itself if its group exists inside the namespace, as root's does; pasta always does.
    isolation = ["--disable-host-loopback", "--enable-seccomp", *(["--enable-sandbox"] if os.getuid() == 0 else [])]
    target = ["--netns-type=path", f"--userns-path={owner}", net, "tap0"]
    return ["slirp4netns", "--configure", "--mtu=65520", "--cidr=198.18.0.0/24", *isolation, *target]


def _pasta(net: str, owner: str) -> list[str]:
    ports = [part for option in ("-t", "-u", "-T", "-U") for part in (option, "none")]
    addresses = ["-a", ADDRESS, "-n", "24", "-g", GATEWAY, "--dns-forward", NAME_SERVER]
    user = ["--runas", "0"] if os.getuid() == 0 else []
    target = ["--userns", owner, "--netns", net]
    return ["pasta", "-4", "-f", "-q", "--config-net", "--no-map-gw", "-I", "tap0", *ports, *addresses, *user, *target]


CARRIERS: dict[str, Callable[[str, str], list[str]]] = {"pasta": _pasta, "slirp4netns": _slirp4netns}
"""Commands, in order of preference, that connect a network namespace, given with the user namespace that owns it. IPv4
only, because the routes below close only IPv4."""


def _has_default_route(pid: int) -> bool:
    lines = Path(f"/proc/{pid}/net/route").read_text(encoding="ascii").splitlines()[1:]
    return any(line.split()[1] == "00000000" for line in lines)


def _close_routes(net: int, owner: int) -> None:
    """Make everything unreachable but the Internet: services of the host, its neighbours, cloud metadata."""
    closed = [
        *NON_PUBLIC_NETWORKS,
        GATEWAY,
        *sorted(address for address in own_addresses() if not address.startswith("127.")),
    ]
    enter = ["nsenter", f"--user=/proc/self/fd/{owner}", f"--net=/proc/self/fd/{net}", "--preserve-credentials"]
    done = subprocess.run(
        [*enter, "ip", "-batch", "-"],
        input="".join(f"route add prohibit {network}\n" for network in closed),
        pass_fds=[net, owner],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise PodiumError(f"The sandbox's network does not start: its routes cannot be closed: {done.stderr.strip()}")
