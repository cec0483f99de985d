# Tries to become root in namespaces of its own: the door to most holes of the kernel.
import ctypes
import os
import platform

libc = ctypes.CDLL(None, use_errno=True)
UNSHARE, SETNS, CLONE, CLONE3 = {"x86_64": (272, 308, 56, 435), "aarch64": (97, 268, 220, 435)}[platform.machine()]
KINDS = {
    "mount": 0x20000,
    "cgroup": 0x2000000,
    "uts": 0x4000000,
    "ipc": 0x8000000,
    "user": 0x10000000,
    "pid": 0x20000000,
    "net": 0x40000000,
    "time": 0x80,
}
for name, flag in KINDS.items():
    if libc.syscall(UNSHARE, flag) == 0:
        print("ACHIEVED a namespace by unshare:", name)
    if name != "time":
        child = libc.syscall(CLONE, flag | 17, 0, 0, 0, 0)
        if child == 0:
            os._exit(0)
        if child > 0:
            print("ACHIEVED a namespace by clone:", name)
    arguments = (ctypes.c_uint64 * 11)(flag, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0)
    child = libc.syscall(CLONE3, arguments, 88)
    if child == 0:
        os._exit(0)
    if child > 0:
        print("ACHIEVED a namespace by clone3:", name)
for process in ("1", "self", str(os.getppid())):
    for name in ("mnt", "user", "pid", "net"):
        try:
            handle = os.open(f"/proc/{process}/ns/{name}", os.O_RDONLY)
        except OSError:
            continue
        if libc.syscall(SETNS, handle, 0) == 0:
            print("ACHIEVED entered", name, "of", process)
os.system("unshare -Ur true 2>/dev/null && echo ACHIEVED unshare")
os.system("bwrap --unshare-all --ro-bind / / true 2>/dev/null && echo ACHIEVED bwrap")
print("DONE")
