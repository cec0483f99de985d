# Fills the disk with files that have no name any more.
import os
import time

file = open("gone", "wb")
os.unlink("gone")
while True:
    file.write(b"x" * 4_000_000)
    os.fsync(file.fileno())
    time.sleep(0.01)
