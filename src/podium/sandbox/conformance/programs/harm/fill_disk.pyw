# Fills the disk until it is stopped.
import os
import time

number = 0
while True:
    number += 1
    with open(f"big{number}", "wb") as file:
        file.write(b"x" * 4_000_000)
        os.fsync(file.fileno())
    time.sleep(0.01)
