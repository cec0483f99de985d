# Tries system calls with a history of holes, and those that would hold memory nobody counts.
import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == "x86_64"
page = ctypes.create_string_buffer(4096)
CALLS = {
    "add_key": (248 if x86 else 217, b"user", b"name", b"payload", 7, -3),
    "request_key": (249 if x86 else 218, b"user", b"name", None, -3),
    "keyctl": (250 if x86 else 219, 0, -3, 1),
    "bpf": (321 if x86 else 280, 0, page, 64),
    "userfaultfd": (323 if x86 else 282, 1),
    "perf_event_open": (298 if x86 else 241, page, 0, -1, -1, 0),
    "io_uring_setup": (425, 8, page),
    "kcmp": (312 if x86 else 272, 1, 1, 0, 0, 0),
    "process_vm_readv": (310 if x86 else 270, 1, page, 1, page, 1, 0),
    "process_vm_writev": (311 if x86 else 271, 1, page, 1, page, 1, 0),
    "init_module": (175 if x86 else 105, page, 4096, b""),
    "finit_module": (313 if x86 else 273, 0, b"", 0),
    "reboot": (169 if x86 else 142, 0, 0, 0, 0),
    "kexec_load": (246 if x86 else 104, 0, 0, 0, 0),
    "syslog": (103 if x86 else 116, 3, page, 4096),
    "acct": (163 if x86 else 89, b"/tmp/acct"),
    "swapon": (167 if x86 else 224, b"/tmp/swap", 0),
    "settimeofday": (164 if x86 else 170, page, None),
    "sethostname": (170 if x86 else 161, b"x", 1),
    "quotactl": (179 if x86 else 60, 0, None, 0, page),
    "open_by_handle_at": (304 if x86 else 265, -100, page, 0),
    "name_to_handle_at": (303 if x86 else 264, -100, b"/home", page, page, 0),
    "fanotify_init": (300 if x86 else 262, 0, 0),
    "shmget": (29 if x86 else 194, 0, 4096, 0o1600),
    "semget": (64 if x86 else 190, 0, 1, 0o1600),
    "msgget": (68 if x86 else 186, 0, 0o1600),
    "io_setup": (206 if x86 else 0, 8, page),
    "memfd_secret": (447, 0),
    "pidfd_getfd": (438, 0, 0, 0),
    "personality": (135 if x86 else 92, 0x0040000),
}
for name, (number, *arguments) in CALLS.items():
    ctypes.set_errno(0)
    if libc.syscall(number, *arguments) >= 0:
        print("ACHIEVED", name)
    elif ctypes.get_errno() not in (1, 38):
        print("ACHIEVED", name, "was tried, and failed only with error", ctypes.get_errno())
print("DONE")
