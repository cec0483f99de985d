# Uses up what the kernel counts per user: open files, watches, pipes, descriptors in flight.
import os
import resource
import select
import socket
import struct
import time

soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
kept = []
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
ours.setblocking(False)
try:
    for _ in range(hard):
        files = struct.pack("100i", *[0] * 100)
        ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
        if len(kept) < hard - 200:
            kept.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
            ours, theirs = kept[-1]
            ours.setblocking(False)
except OSError:
    pass
try:
    while True:
        kept.append(select.epoll())
        kept[-1].register(0)
        kept.append(os.pipe())
except OSError:
    pass
print("used up", flush=True)
time.sleep(60)
