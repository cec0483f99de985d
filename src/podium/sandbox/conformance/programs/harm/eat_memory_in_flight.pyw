# Takes memory in files that nobody holds: their only descriptors wait in a socket, which waits in another one.
import array
import os
import socket
import time


def send(target, *descriptors):
    target.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))])


outer, kept = socket.socketpair()
while True:
    ours, theirs = socket.socketpair()
    for _ in range(4):
        file = os.memfd_create("hidden")
        os.write(file, b"x" * 4_000_000)
        send(ours, file)
        os.close(file)
    send(outer, theirs.fileno())
    theirs.close()
    ours.close()
    time.sleep(0.01)
