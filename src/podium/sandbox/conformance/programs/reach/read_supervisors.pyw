# Tries to read or change the memory and the descriptors of the first process and of its own supervisor.
import os

READ = ("mem", "environ", "maps", "stack", "syscall", "auxv", "pagemap", "io", "personality")
for process in (1, os.getppid()):
    for file in READ:
        try:
            handle = os.open(f"/proc/{process}/{file}", os.O_RDONLY)
            if os.read(handle, 64):
                print("ACHIEVED read", process, file)
        except OSError:
            pass
    for file in ("mem", "comm", "timerslack_ns"):
        try:
            handle = os.open(f"/proc/{process}/{file}", os.O_WRONLY)
            os.write(handle, b"1")
            print("ACHIEVED wrote", process, file)
        except OSError:
            pass
    for way in ("root", "cwd", "exe", *(f"fd/{number}" for number in range(32))):
        try:
            os.close(os.open(f"/proc/{process}/{way}", os.O_RDONLY))
            print("ACHIEVED opened", process, way)
        except OSError:
            pass
        try:
            print("ACHIEVED saw", process, way, os.readlink(f"/proc/{process}/{way}"))
        except OSError:
            pass
print("DONE")
