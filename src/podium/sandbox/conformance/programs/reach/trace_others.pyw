# Tries to attach to the first process, to its supervisor and to a program beside it.
import ctypes
import os
import signal
import time

libc = ctypes.CDLL(None, use_errno=True)
ATTACH, SEIZE, TRACEME = 16, 0x4206, 0
beside = os.fork()
if beside == 0:
    time.sleep(30)
    os._exit(0)
for process in (1, os.getppid(), beside):
    for request in (ATTACH, SEIZE):
        if libc.ptrace(request, process, 0, 0) == 0:
            print("ACHIEVED attached to", process)
if libc.ptrace(TRACEME, 0, 0, 0) == 0:
    print("ACHIEVED is traced")
os.kill(beside, signal.SIGKILL)
print("DONE")
