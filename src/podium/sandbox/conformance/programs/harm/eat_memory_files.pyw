# Takes memory in files that no folder shows and nothing maps.
import os

file = os.memfd_create("hidden")
while True:
    os.write(file, b"x" * 4_000_000)
