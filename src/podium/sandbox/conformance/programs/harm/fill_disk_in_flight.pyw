# Fills the disk with files that have no name, and whose descriptors wait in a socket.
import array
import os
import socket

ours, theirs = socket.socketpair()
while True:
    file = os.open("gone", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.unlink("gone")
    os.write(file, b"x" * 4_000_000)
    os.fsync(file)
    ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))])
    os.close(file)
