# Takes memory in files that no folder shows and nothing maps.
import os

while True:
    file = os.memfd_create("hidden")
    for _ in range(5):
        os.write(file, b"x" * 4_000_000)
