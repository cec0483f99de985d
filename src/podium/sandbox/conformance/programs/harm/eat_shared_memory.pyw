# Takes memory that stays when its process has ended: files in /dev/shm.
try:
    with open("/dev/shm/left", "wb") as file:
        while True:
            file.write(b"x" * 4_000_000)
except OSError as error:
    print(error.errno)
