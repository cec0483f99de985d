# Tries to mount, unmount and change its root.
import ctypes
import os
import platform

libc = ctypes.CDLL(None, use_errno=True)
CHROOT, PIVOT_ROOT = {"x86_64": (161, 155), "aarch64": (51, 41)}[platform.machine()]
os.makedirs("/tmp/place", exist_ok=True)
attempts = {
    "a tmpfs": lambda: libc.mount(b"none", b"/tmp/place", b"tmpfs", 0, None),
    "a bind": lambda: libc.mount(b"/home", b"/tmp/place", None, 4096, None),
    "a writable /usr": lambda: libc.mount(None, b"/usr", None, 4096 | 32, None),
    "a writable root": lambda: libc.mount(None, b"/", None, 32, None),
    "proc": lambda: libc.mount(b"proc", b"/tmp/place", b"proc", 0, None),
    "no data": lambda: libc.umount2(b"/home/data", 2),
    "no cover over Podium": lambda: libc.umount2(b"/proc/sys", 2),
    "a root": lambda: libc.syscall(CHROOT, b"/tmp"),
    "another root": lambda: libc.syscall(PIVOT_ROOT, b"/tmp", b"/tmp/place"),
    "fsopen": lambda: -1 if libc.syscall(430, b"tmpfs", 0) < 0 else 0,
    "open_tree": lambda: -1 if libc.syscall(428, -100, b"/usr", 1) < 0 else 0,
    "mount_setattr": lambda: libc.syscall(442, -100, b"/usr", 0, (ctypes.c_uint64 * 4)(0, 1, 0, 0), 32),
}
for name, attempt in attempts.items():
    if attempt() == 0:
        print("ACHIEVED", name)
os.system("mount -t tmpfs none /tmp/place 2>/dev/null && echo ACHIEVED mount")
os.system("umount -l /home/data 2>/dev/null && echo ACHIEVED umount")
print("DONE")
