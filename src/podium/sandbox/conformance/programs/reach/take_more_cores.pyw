# Tries to leave the cores it was bound to, and to come before everybody else on them.
import os
import subprocess

before = os.sched_getaffinity(0)
for cores in ({0, 1, 2, 3}, set(range(os.cpu_count() or 1)), {0}, {1}):
    try:
        os.sched_setaffinity(0, cores)
    except (OSError, ValueError):
        pass
subprocess.run(["taskset", "-p", "ff", str(os.getpid())], capture_output=True)
if os.sched_getaffinity(0) != before or len(before) != 1:
    print("ACHIEVED runs on", os.sched_getaffinity(0))
for attempt in (lambda: os.nice(-5), lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))):
    try:
        attempt()
        print("ACHIEVED precedence")
    except OSError:
        pass
print("DONE")
