# Tries to become another user: through set-user-id programs, of the system and of its own, and through capabilities.
import ctypes
import os
import shutil
import subprocess

for command in (
    ["su", "-c", "id"],
    ["sudo", "-n", "id"],
    ["mount", "-t", "tmpfs", "none", "/tmp"],
    ["newuidmap", str(os.getpid()), "0", "0", "1"],
    ["pkexec", "id"],
    ["chfn", "-f", "x"],
    ["passwd", "-d", "agent"],
    ["ping", "-c", "1", "127.0.0.1"],
):
    if shutil.which(command[0]):
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=10)
        if (result.returncode == 0 and (command[0] != "ping")) or b"uid=0" in result.stdout:
            print("ACHIEVED", command, result.stdout)
shutil.copy("/usr/bin/id", "/home/id")
for attempt in (
    lambda: os.chmod("/home/id", 0o4755),
    lambda: os.close(os.open("/home/suid", os.O_CREAT | os.O_WRONLY, 0o4755)),
    lambda: os.mknod("/home/node", 0o104755),
):
    try:
        attempt()
        print("ACHIEVED a set-user-id file")
    except OSError:
        pass
for attempt in (
    lambda: os.setuid(0),
    lambda: os.setgid(0),
    lambda: os.setgroups([0]),
    lambda: os.setresuid(0, 0, 0),
    lambda: os.chown("/home/id", 0, 0),
):
    try:
        attempt()
        print("ACHIEVED other ids", os.getresuid())
    except OSError:
        pass
status = open("/proc/self/status").read()
for line in status.splitlines():
    if line.startswith(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")) and int(line.split()[1], 16):
        print("ACHIEVED capabilities", line)
    if line.startswith(("NoNewPrivs:", "Seccomp:")) and line.split()[1] == "0":
        print("ACHIEVED runs with", line)
for number in range(41):
    if ctypes.CDLL(None).prctl(47, 2, number, 0, 0) == 0:
        print("ACHIEVED an ambient capability", number)
print("DONE")
