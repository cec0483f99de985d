# Stops all processes beside it, its supervisor first, and then itself.
import os
import signal

os.kill(os.getppid(), signal.SIGSTOP)
os.kill(-1, signal.SIGSTOP)
os.kill(os.getpid(), signal.SIGSTOP)
