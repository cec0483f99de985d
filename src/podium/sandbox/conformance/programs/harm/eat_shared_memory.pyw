# Takes memory that stays when its process has ended: files in /dev/shm.
number = 0
try:
    while True:
        number += 1
        with open(f"/dev/shm/left{number}", "wb") as file:
            file.write(b"x" * 4_000_000)
except OSError as error:
    print(error.errno)
