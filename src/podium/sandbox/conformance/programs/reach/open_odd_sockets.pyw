# Tries families of sockets that reach past the network namespace or into old corners of the kernel.
import socket

FAMILIES = {
    "ax25": 3,
    "ipx": 4,
    "appletalk": 5,
    "key": 15,
    "packet": 17,
    "rds": 21,
    "can": 29,
    "tipc": 30,
    "bluetooth": 31,
    "alg": 38,
    "nfc": 39,
    "vsock": 40,
    "kcm": 41,
    "qipcrtr": 42,
    "smc": 43,
    "xdp": 44,
    "mctp": 45,
}
for name, family in FAMILIES.items():
    for kind in (1, 2, 3, 5):
        try:
            socket.socket(family, kind, 0).close()
            print("ACHIEVED a socket of", name)
        except OSError:
            pass
        try:
            for end in socket.socketpair(family, kind):
                end.close()
            print("ACHIEVED a pair of", name)
        except OSError:
            pass
for protocol in range(1, 23):
    try:
        socket.socket(16, 3, protocol).close()
        print("ACHIEVED netlink", protocol)
    except OSError:
        pass
for family in (socket.AF_INET, socket.AF_INET6):
    try:
        socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()
        print("ACHIEVED a raw socket")
    except OSError:
        pass
print("DONE")
