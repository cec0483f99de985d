# Makes empty files and folders until it is stopped.
import os

for number in range(10_000_000):
    os.makedirs(f"many/{number // 1000}", exist_ok=True)
    open(f"many/{number // 1000}/{number}", "w").close()
