# Tries to reach a service of the host on its loopback, its other addresses and the network beyond.
import json
import socket

target = json.load(open("/home/targets.json"))
for address in (
    "127.0.0.1",
    "localhost",
    "::1",
    "0.0.0.0",
    "169.254.169.254",
    "10.0.0.1",
    "172.17.0.1",
    "192.168.1.1",
    "8.8.8.8",
    *target["addresses"],
):
    for port in (target["port"], 22, 53, 80):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            try:
                with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, kind) as connection:
                    connection.settimeout(0.3)
                    connection.connect((address, port))
                    connection.send(b"hello")
                    print("ACHIEVED heard", connection.recv(100), "from", address, port)
            except OSError:
                pass
try:
    print("ACHIEVED resolved", socket.gethostbyname("example.com"))
except OSError:
    pass
print("DONE")
