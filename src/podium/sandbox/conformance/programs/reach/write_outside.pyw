# Tries to write everywhere but where it may.
import os
import sys
import sysconfig

places = [
    "/",
    "/dev",
    "/run",
    "/run/podium",
    "/etc",
    "/usr",
    "/usr/bin",
    "/bin",
    "/lib",
    "/var",
    "/sys",
    "/proc",
    "/mnt",
    "/opt",
    "/root",
    "/home/data",
    sys.prefix,
    sys.base_prefix,
    *set(sysconfig.get_paths().values()),
    os.path.dirname(sys.executable),
]
for place in places:
    for attempt in (lambda path: open(path, "w").close(), os.mkdir, lambda path: os.symlink("/tmp", path), os.mkfifo):
        try:
            attempt(f"{place}/planted")
            print("ACHIEVED planted something in", place)
        except OSError:
            pass
for path in (
    *(f"/run/podium/{name}" for name in os.listdir("/run/podium")),
    "/etc/passwd",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/hostname",
    "/proc/sys/vm/drop_caches",
    "/proc/sysrq-trigger",
    "/sys/devices/system/cpu/cpu1/online",
):
    for flags in (os.O_WRONLY, os.O_RDWR | os.O_APPEND):
        try:
            os.close(os.open(path, flags))
            print("ACHIEVED opened for writing", path)
        except OSError:
            pass
for top, _, files in os.walk("/proc/sys"):
    for name in files:
        try:
            os.close(os.open(os.path.join(top, name), os.O_WRONLY))
            print("ACHIEVED may set", os.path.join(top, name))
        except OSError:
            pass
print("DONE")
