# Starts threads until there are none left, and holds them.
import threading
import time

count = 0
try:
    while count < 100_000:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        count += 1
except RuntimeError:
    print(count, flush=True)
time.sleep(60)
