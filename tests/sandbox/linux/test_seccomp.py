"""The system call filter, run by a small BPF interpreter for both architectures."""

from __future__ import annotations

import errno
import re
import socket
import struct
from pathlib import Path

import pytest

from podium.errors import PodiumError
from podium.sandbox.linux import seccomp

ALLOWED, KILLED = "allowed", "killed"
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
COLUMN = {"x86_64": 0, "aarch64": 1}
HEADERS = {"x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "aarch64": "/usr/include/asm-generic/unistd.h"}
CALLS = {  # of a plain program: x86-64, arm64
    "read": (0, 63), "write": (1, 64), "close": (3, 57), "mmap": (9, 222), "brk": (12, 214), "execve": (59, 221),
    "futex": (202, 98), "exit_group": (231, 94), "kill": (62, 129), "wait4": (61, 260), "pipe2": (293, 59),
    "bind": (49, 200), "sendmsg": (46, 211), "getrandom": (318, 278), "memfd_create": (319, 279), "statx": (332, 291),
    "set_robust_list": (273, 99), "setsid": (112, 157), "landlock_create_ruleset": (444, 444),
}  # fmt: skip


@pytest.fixture(params=sorted(AUDIT))
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def verdict(machine: str, number: int, *arguments: int, audit: int | None = None) -> str | int:
    """Return the kernel's reaction to a call: allow it, kill the program, or answer with an error."""
    code = seccomp.program(machine)
    instructions = [struct.unpack_from("<HBBI", code, place) for place in range(0, len(code), 8)]
    padded = [*arguments, *[0] * 6][:6]
    data = struct.pack(
        "<IIQ6Q", number & 0xFFFFFFFF, audit or AUDIT[machine], 0, *(value % (1 << 64) for value in padded)
    )
    loaded = place = 0
    while True:
        operation, yes, no, value = instructions[place]
        place += 1
        if operation == 0x20:  # load
            (loaded,) = struct.unpack_from("<I", data, value)
        elif operation == 0x06:  # return
            if value & 0xFFFF0000 == 0x00050000:
                return value & 0xFFFF
            return {0x7FFF0000: ALLOWED, 0x80000000: KILLED}[value]
        else:
            holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[operation]
            place += yes if holds else no


def test_kernel_accepts_the_filter(machine: str) -> None:
    code = seccomp.program(machine)
    assert len(code) % 8 == 0
    count = len(code) // 8
    assert count < 4096
    for place in range(count):
        operation, yes, no, _ = struct.unpack_from("<HBBI", code, 8 * place)
        assert operation == 0x06 or place + 1 + max(yes, no) < count
    assert struct.unpack_from("<H", code, 8 * (count - 1))[0] == 0x06


def test_other_machines_are_refused_with_a_hint() -> None:
    with pytest.raises(PodiumError, match="--sandbox none"):
        seccomp.program("riscv64")


@pytest.mark.parametrize("name", sorted(CALLS))
def test_needed_calls_are_allowed(machine: str, name: str) -> None:
    assert verdict(machine, CALLS[name][COLUMN[machine]]) == ALLOWED


@pytest.mark.parametrize("name", sorted(seccomp._DENIED))
def test_unneeded_calls_are_refused(machine: str, name: str) -> None:
    assert verdict(machine, seccomp._DENIED[name][COLUMN[machine]]) == errno.EPERM


@pytest.mark.parametrize("name", sorted(seccomp._UNKNOWN))
def test_newer_calls_are_reported_as_unknown(machine: str, name: str) -> None:
    assert verdict(machine, seccomp._UNKNOWN[name][COLUMN[machine]]) == errno.ENOSYS


def test_disk_space_cannot_be_preallocated(machine: str) -> None:
    assert verdict(machine, seccomp._FALLOCATE[COLUMN[machine]]) == errno.EOPNOTSUPP


@pytest.mark.parametrize("machine", sorted(AUDIT))
def test_call_numbers_match_the_kernel(machine: str) -> None:
    header = Path(HEADERS[machine])
    if not header.exists():
        pytest.skip(f"{header} is not installed")
    defined = re.findall(r"#define __NR_(?:3264_)?(\w+)\s+(\d+)", header.read_text())
    numbers = {name: int(number) for name, number in defined}
    ours = {name: both[COLUMN[machine]] for name, both in {**seccomp._DENIED, **seccomp._UNKNOWN, **CALLS}.items()}
    ours["fallocate"] = seccomp._FALLOCATE[COLUMN[machine]]
    ours |= {name: number for name, number in seccomp._X86_ONLY.items() if machine == "x86_64"}
    ours |= {name: row[COLUMN[machine]] for name, row in seccomp._MODES.items() if row[COLUMN[machine]] is not None}
    differing = {name: number for name, number in ours.items() if numbers.get(name, number) != number}
    assert differing == {}
    assert len(ours.keys() & numbers.keys()) > 80


@pytest.mark.parametrize("number", [0, 39, 59, 101, 165, 272, 520, 0x3FFFFFFF])
def test_x32_calls_are_refused(number: int) -> None:
    assert verdict("x86_64", 0x40000000 | number) == errno.EPERM


@pytest.mark.parametrize("audit", [0x40000003, 0xC000003E, 0xC00000B7, 0x40000028, 0])
def test_calls_of_another_architecture_kill(machine: str, audit: int) -> None:
    expected = ALLOWED if audit == AUDIT[machine] else KILLED
    assert verdict(machine, CALLS["read"][COLUMN[machine]], audit=audit or 1) == expected


@pytest.mark.parametrize(
    ("flags", "expected"),
    [(0x01200011, ALLOWED), (0x003D0F00, ALLOWED), (0x4111, ALLOWED),
     (0x00020011, errno.EPERM), (0x02000011, errno.EPERM),
     (0x04000011, errno.EPERM), (0x08000011, errno.EPERM), (0x10000011, errno.EPERM), (0x20000011, errno.EPERM),
     (0x40000011, errno.EPERM), (0x7E020011, errno.EPERM), (0x10000000 | 1 << 40, errno.EPERM)],
)  # fmt: skip
def test_clone_creates_processes_but_no_namespaces(machine: str, flags: int, expected: str | int) -> None:
    assert verdict(machine, {"x86_64": 56, "aarch64": 220}[machine], flags) == expected


@pytest.mark.parametrize("call", [{"x86_64": 41, "aarch64": 198}, {"x86_64": 53, "aarch64": 199}], ids=["one", "pair"])
@pytest.mark.parametrize("family", range(46))
def test_only_common_families_of_sockets_are_allowed(machine: str, call: dict[str, int], family: int) -> None:
    is_common = family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
    assert verdict(machine, call[machine], family, 1, 0) == (ALLOWED if is_common else errno.EAFNOSUPPORT)
    assert verdict(machine, call[machine], family | 1 << 32, 1, 0) == (ALLOWED if is_common else errno.EAFNOSUPPORT)


@pytest.mark.parametrize("protocol", range(1, 23))
def test_only_route_netlink_is_allowed(machine: str, protocol: int) -> None:
    number = {"x86_64": 41, "aarch64": 198}[machine]
    assert verdict(machine, number, socket.AF_NETLINK, 3, protocol) == errno.EAFNOSUPPORT
    assert verdict(machine, number, socket.AF_INET, 3, protocol) == ALLOWED


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (0x5412, errno.EPERM),
        (0x541C, errno.EPERM),
        (0x5412 | 1 << 32, errno.EPERM),
        (0xC020660B, errno.EPERM),  # FIEMAP
        (1, errno.EPERM),  # FIBMAP
        (0x5413, ALLOWED),
        (0x541B, ALLOWED),
    ],
)
def test_typing_into_terminals_is_refused(machine: str, order: int, expected: str | int) -> None:
    assert verdict(machine, {"x86_64": 16, "aarch64": 29}[machine], 0, order) == expected


def test_setting_the_affinity_pretends_to_succeed(machine: str) -> None:
    assert verdict(machine, {"x86_64": 203, "aarch64": 122}[machine], 0, 8, 1) == 0
    assert verdict(machine, {"x86_64": 204, "aarch64": 123}[machine], 0, 8, 1) == ALLOWED


def test_limits_can_only_be_set_for_the_own_process(machine: str) -> None:
    number = {"x86_64": 302, "aarch64": 261}[machine]
    assert verdict(machine, number, 0, 7, 1, 0) == ALLOWED
    assert verdict(machine, number, 1, 7, 1, 0) == errno.EPERM


@pytest.mark.parametrize("name", sorted(seccomp._MODES))
def test_no_file_becomes_set_user_id(machine: str, name: str) -> None:
    number, place = seccomp._MODES[name][COLUMN[machine]], seccomp._MODES[name][2]
    if number is None:
        pytest.skip(f"{machine} has no {name}")
    for mode, expected in ((0o755, ALLOWED), (0o2775, ALLOWED), (0o1777, ALLOWED), (0o4755, errno.EPERM)):
        assert verdict(machine, number, *[0] * place, mode) == expected
