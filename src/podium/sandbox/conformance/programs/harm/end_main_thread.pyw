# Lets its first thread end while another one goes on: a zombie that works.
import ctypes
import threading
import time


def work() -> None:
    while True:
        time.sleep(0.02)
        with open("worked", "w") as file:
            file.write(str(time.monotonic()))


threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
ctypes.CDLL(None).syscall(60 if __import__("platform").machine() == "x86_64" else 93, 0)
