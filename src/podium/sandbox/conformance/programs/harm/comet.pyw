# Is never found: each process of it starts the next and ends. It writes to the file comet for as long as it flies.
import os

if os.fork():
    os._exit(0)
number = 0
while True:
    if os.fork():
        os._exit(0)
    os.setsid()
    number += 1
    if number % 50 == 0:
        with open("comet", "w") as file:
            file.write(str(number))
