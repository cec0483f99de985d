# Tries to find keys in the environments and command lines of all processes it can see, its own included.
import os

for process in ["self", *filter(str.isdigit, os.listdir("/proc"))]:
    for file in ("environ", "cmdline", "auxv", "maps"):
        try:
            content = open(f"/proc/{process}/{file}", "rb").read()
        except OSError:
            continue
        if b"PODIUM_TEST_KEY" in content or b"key-of-the-host" in content:
            print("ACHIEVED found the key in", process, file)
        if process == "1" and file in ("environ", "maps") and content:
            print("ACHIEVED read", file, "of the first process")
if any(name.endswith(("_KEY", "_TOKEN")) for name in os.environ):
    print("ACHIEVED inherited", dict(os.environ))
print("DONE")
