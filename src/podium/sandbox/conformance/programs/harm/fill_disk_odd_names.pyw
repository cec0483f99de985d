# Fills the disk with mapped files without a name, whose last ones looked like ends of lines.
import mmap
import os

kept = []
while True:
    file = os.open("gone \x0b \x1c \x85 \u2028 gone", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.unlink("gone \x0b \x1c \x85 \u2028 gone")
    os.write(file, b"x" * 4_000_000)
    kept.append(mmap.mmap(file, 4_000_000))
    os.close(file)
