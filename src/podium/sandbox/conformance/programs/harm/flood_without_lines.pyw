# Prints hundreds of megabytes without a single newline, then ends.
import os

piece = b"x" * 65_536
for _ in range(3000):
    os.write(1, piece)
os.write(1, b"the end")
