"""Seccomp filter: denies system calls that machine-learning code never needs, as a BPF program."""

from __future__ import annotations

import errno
import platform
import struct
from dataclasses import dataclass

from podium.errors import PodiumError

# System call numbers: x86-64, then the generic table that arm64 uses. Recent calls have one number for both.
_DENIED = {
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "unshare": (272, 97), "setns": (308, 268),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60), "syslog": (103, 116),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266), "adjtimex": (159, 171),
    "sethostname": (170, 161), "setdomainname": (171, 162), "vhangup": (153, 58),
    "shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186),  # memory that belongs to no process
    "fanotify_init": (300, 262), "lookup_dcookie": (212, 18), "personality": (135, 92),
    "quotactl_fd": (443, 443), "open_tree_attr": (467, 467), "nfsservctl": (180, 42),
}  # fmt: skip
_X86_ONLY = {"iopl": 172, "ioperm": 173, "modify_ldt": 154, "uselib": 134, "ustat": 136, "sysfs": 139}

# Answered as if the kernel did not have them, so that libraries fall back to older calls.
_UNKNOWN = {"io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
            "io_setup": (206, 0), "memfd_secret": (447, 447), "openat2": (437, 437), "clone3": (435, 435)}  # fmt: skip

_CLONE, _IOCTL, _SETAFFINITY, _PRLIMIT = (56, 220), (16, 29), (203, 122), (302, 261)
_FALLOCATE = (285, 47)
_SOCKET, _SOCKETPAIR = (41, 198), (53, 199)
# Calls that set the mode of a file, with the index of that argument; None where an architecture lacks the call.
_MODES = {
    "chmod": (90, None, 1), "fchmod": (91, 52, 1), "fchmodat": (268, 53, 2), "fchmodat2": (452, 452, 2),
    "creat": (85, None, 1), "open": (2, None, 2), "openat": (257, 56, 3),
    "mknod": (133, None, 1), "mknodat": (259, 33, 2),
}  # fmt: skip
_SET_USER_ID = 0o4000
_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_FAMILIES = (1, 2, 10)  # unix, IPv4 and IPv6; others reach beyond the namespaces
_NETLINK, _ROUTE = 16, 0  # names of interfaces and addresses, for name resolution
_TERMINAL_IOCTLS = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX: type into another user's terminal
# Location of a file on the disk, which for shared blocks is that of the raw file: FIBMAP, FIEMAP, ext4's cache of it,
# and XFS's older calls.
_LOCATION_IOCTLS = (0x1, 0xC020660B, 0xC020662A, 0xC0205826, 0xC020582C, 0xC0205838)
_X32_BIT = 0x40000000

_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE = 0, 4  # offsets in struct seccomp_data
_ARGUMENTS = (16, 24, 32, 40)  # their low halves


@dataclass(frozen=True)
class _Machine:
    audit: int
    column: int


_MACHINES = {"x86_64": _Machine(0xC000003E, 0), "aarch64": _Machine(0xC00000B7, 1)}


def program(machine: str | None = None) -> bytes:
    """Return the filter for an architecture, by default this machine's, in the format that `bwrap --seccomp` reads."""
    name = machine or platform.machine()
    if name not in _MACHINES:
        raise PodiumError(
            f"There is no system call filter for {name} machines, so sandboxes cannot be sealed here. "
            f"Supported: {', '.join(_MACHINES)}. To run without isolation: podium run --sandbox none"
        )
    kind = _MACHINES[name]
    code = [
        _operation(_LOAD, _ARCHITECTURE),
        _operation(_EQUAL, kind.audit, yes=1),
        _answer(_KILL),
        _operation(_LOAD, _NUMBER),
    ]
    denied = [numbers[kind.column] for numbers in _DENIED.values()]
    if kind.column == 0:
        code += [_operation(_AT_LEAST, _X32_BIT, no=1), _answer(_refuse(errno.EPERM))]
        denied += _X86_ONLY.values()
    code += _for_calls(denied, _refuse(errno.EPERM))
    code += _for_calls([numbers[kind.column] for numbers in _UNKNOWN.values()], _refuse(errno.ENOSYS))
    # Allocates any amount of disk space instantly, before it can be measured; the C library then writes zeros instead.
    code += _for_calls([_FALLOCATE[kind.column]], _refuse(errno.EOPNOTSUPP))
    # Cores are leased: a program that tries to move itself gets success and stays where it is.
    code += _for_calls([_SETAFFINITY[kind.column]], _refuse(0))
    code += _when_call(_CLONE[kind.column], _refuse_bits(0, _NAMESPACES))
    # Otherwise a program could leave its supervisor or the first process without any files or time.
    code += _when_call(
        _PRLIMIT[kind.column],
        [_operation(_LOAD, _ARGUMENTS[0]), _operation(_EQUAL, 0, yes=1), _answer(_refuse(errno.EPERM))],
    )
    for call in (_SOCKET, _SOCKETPAIR):
        code += _when_call(call[kind.column], _only_known_families())
    code += _when_call(
        _IOCTL[kind.column],
        [_operation(_LOAD, _ARGUMENTS[1]), *_for_calls((*_TERMINAL_IOCTLS, *_LOCATION_IOCTLS), _refuse(errno.EPERM))],
    )
    # The workspace is on the host, where such a program would give any user the rights of Podium's user.
    for *numbers, argument in _MODES.values():
        number = numbers[kind.column]
        if number is not None:
            code += _when_call(number, _refuse_bits(argument, _SET_USER_ID))
    return b"".join([*code, _answer(_ALLOW)])


def _operation(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    """Return one instruction; `yes` and `no` are the numbers of instructions to skip after a comparison."""
    return struct.pack("<HBBI", code, yes, no, value)


def _answer(value: int) -> bytes:
    return _operation(_RETURN, value)


def _refuse(number: int) -> int:
    return _ERRNO | number


def _for_calls(numbers: list[int] | tuple[int, ...], answer: int) -> list[bytes]:
    """Return code that answers if the loaded value is one of the numbers."""
    return [part for number in sorted(numbers) for part in (_operation(_EQUAL, number, no=1), _answer(answer))]


def _refuse_bits(argument: int, bits: int) -> list[bytes]:
    """Return code that refuses a call if any of the bits is set in an argument."""
    return [
        _operation(_LOAD, _ARGUMENTS[argument]),
        _operation(_ANY_BIT, bits, no=1),
        _answer(_refuse(errno.EPERM)),
    ]


def _only_known_families() -> list[bytes]:
    allow = _answer(_ALLOW)
    known = [part for family in _FAMILIES for part in (_operation(_EQUAL, family, no=1), allow)]
    routes = [_operation(_LOAD, _ARGUMENTS[2]), _operation(_EQUAL, _ROUTE, no=1), allow]
    return [
        _operation(_LOAD, _ARGUMENTS[0]),
        *known,
        _operation(_EQUAL, _NETLINK, no=len(routes)),
        *routes,
        _answer(_refuse(errno.EAFNOSUPPORT)),
    ]


def _when_call(number: int, code: list[bytes]) -> list[bytes]:
    """Return code for one system call. It ends by allowing the call because it has overwritten the loaded number."""
    body = [*code, _answer(_ALLOW)]
    return [_operation(_EQUAL, number, no=len(body)), *body]
