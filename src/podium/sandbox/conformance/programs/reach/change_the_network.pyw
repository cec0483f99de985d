# Tries to give itself addresses and interfaces.
import fcntl
import os
import socket
import struct

SIOCSIFFLAGS, SIOCSIFADDR = 0x8914, 0x8916
with socket.socket(16, 3, 0) as route:
    # A new dummy interface: RTM_NEWLINK, request + acknowledge + create.
    message = struct.pack("=BxHiII", 0, 0, 0, 0, 0)
    route.send(struct.pack("=IHHII", 16 + len(message), 16, 0x1 | 0x4 | 0x400, 1, 0) + message)
    if struct.unpack_from("=i", route.recv(4096), 16)[0] == 0:
        print("ACHIEVED a new interface")
with socket.socket() as inet:
    for order, value in (
        (SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", 0)),
        (SIOCSIFADDR, struct.pack("16sHH4s8x", b"lo", 2, 0, bytes([10, 0, 0, 1]))),
    ):
        try:
            fcntl.ioctl(inet, order, value)
            print("ACHIEVED changed the loopback")
        except OSError:
            pass
if len(os.listdir("/sys/class/net")) if os.path.exists("/sys/class/net") else 0:
    print("ACHIEVED sees the interfaces of the host")
print("DONE")
