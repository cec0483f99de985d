# Closes everything it was given and goes on.
import os
import time

os.closerange(0, 1024)
time.sleep(0.3)
with open("still-there", "w") as file:
    file.write("yes")
os._exit(7)
