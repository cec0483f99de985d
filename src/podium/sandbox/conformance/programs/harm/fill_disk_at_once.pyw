# Asks for 900 MiB in one call, then writes as much as it is let.
import ctypes
import os

file = os.open("huge", os.O_RDWR | os.O_CREAT)
ctypes.CDLL(None).syscall(285 if os.uname().machine == "x86_64" else 47, file, 0, 0, ctypes.c_long(900 << 20))
while True:
    with open(f"big{os.urandom(4).hex()}", "wb", buffering=0) as more:
        try:
            while True:
                more.write(b"x" * 4_000_000)
        except OSError:
            continue
