# Tries to reach services of the host through abstract and named sockets.
import json
import os
import socket

target = json.load(open("/home/targets.json"))
for address in (
    "\0" + target["abstract"],
    target["socket"],
    "/run/docker.sock",
    "/var/run/dbus/system_bus_socket",
    "\0/tmp/.X11-unix/X0",
    "/run/systemd/notify",
    "/proc/self/root" + target["socket"],
):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        try:
            with socket.socket(socket.AF_UNIX, kind) as connection:
                connection.connect(address)
                print("ACHIEVED connected to", repr(address))
        except OSError:
            pass
listed = open("/proc/net/unix").read()
if target["abstract"] in listed or len(listed.splitlines()) > 20:
    print("ACHIEVED sees the sockets of the host")
if os.path.exists("/proc/1/net/unix") and target["abstract"] in open("/proc/1/net/unix").read():
    print("ACHIEVED sees them through the first process")
print("DONE")
