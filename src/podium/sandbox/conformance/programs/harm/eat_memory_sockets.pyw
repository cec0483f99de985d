# Takes memory in sockets: fills them and closes the end that did so.
import socket
import time

kept = []
while True:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
        ours.setblocking(False)
        try:
            while True:
                ours.send(b"x" * 100_000)
        except OSError:
            kept.append(theirs)
            ours.close()
    time.sleep(0.002)
