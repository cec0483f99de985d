# Tries to kill, stop or confuse the first process of its sandbox, and processes of the host by their numbers.
import json
import os
import signal
import time

for number in [*range(1, 65)]:
    if number not in (signal.SIGCHLD,):
        try:
            os.kill(1, number)
        except (OSError, ValueError):
            pass
state = open("/proc/1/stat").read().rpartition(") ")[2].split()[0]
if state in "TtZX":
    print("ACHIEVED put the first process into state", state)
for process in json.load(open("/home/targets.json"))["processes"]:
    if not os.path.exists(f"/proc/{process}"):
        try:
            os.kill(process, signal.SIGTERM)
            print("ACHIEVED a signal to process", process, "of the host")
        except OSError:
            pass
time.sleep(0.1)
print("DONE")
