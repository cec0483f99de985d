# Looks for descriptors it was not meant to have.
import os

for number in range(3, 4096):
    try:
        status = os.fstat(number)
    except OSError:
        continue
    print("ACHIEVED inherited", number, status)
print("DONE")
