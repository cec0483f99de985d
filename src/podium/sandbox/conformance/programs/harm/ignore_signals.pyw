# Ignores every signal that can be ignored, in many processes that start each other again.
import os
import signal
import time

for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
os.fork()
os.fork()
while True:
    time.sleep(0.1)
    os.setsid() if os.getpgid(0) != os.getpid() else None
