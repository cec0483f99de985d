# Fills the disk inside a folder that nobody may enter.
import os
import time

os.makedirs("locked/inner", exist_ok=True)
file = open("locked/inner/big", "wb")
os.chmod("locked/inner", 0)
os.chmod("locked", 0)
while True:
    file.write(b"x" * 4_000_000)
    os.fsync(file.fileno())
    time.sleep(0.01)
