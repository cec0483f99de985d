# Fills the disk with files that have no name any more.
import os
import time

kept = []
while True:
    kept.append(open("gone", "wb"))
    os.unlink("gone")
    kept[-1].write(b"x" * 4_000_000)
    os.fsync(kept[-1].fileno())
    time.sleep(0.01)
