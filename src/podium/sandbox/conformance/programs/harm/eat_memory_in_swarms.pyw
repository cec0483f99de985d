# Takes memory in many small processes, none of which is large.
import os
import time

children = 0
while children < 100:
    if os.fork() == 0:
        kept = bytearray(b"x" * 8_000_000)
        time.sleep(60)
    children += 1
time.sleep(60)
