# Fills the disk beside a socket whose name breaks the kernel's list of sockets into lines that are none.
import socket

named = socket.socket(socket.AF_UNIX)
named.bind(b"\0a\nb\n\xff c")
number = 0
while True:
    number += 1
    with open(f"big{number}", "wb") as file:
        file.write(b"x" * 4_000_000)
