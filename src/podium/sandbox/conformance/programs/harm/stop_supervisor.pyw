# Stops its supervisor again and again, in the hope that its own end is never told and its time never up.
import os
import signal
import time

supervisor = os.getppid()
if os.fork():
    time.sleep(60)
while True:
    os.kill(supervisor, signal.SIGSTOP)
