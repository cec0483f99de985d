# Makes one file larger than a file may be.
import os

with open("sparse", "wb") as file:
    try:
        os.ftruncate(file.fileno(), 20 << 30)
        print("ACHIEVED a file of 20 GB")
    except OSError as error:
        print(error.errno)
