# Tries to make device files of the host's disks and memory.
import os
import stat

for name, kind, major, minor in (
    ("disk", stat.S_IFBLK, 8, 0),
    ("disk", stat.S_IFBLK, 254, 0),
    ("mem", stat.S_IFCHR, 1, 1),
    ("null", stat.S_IFCHR, 1, 3),
):
    for place in ("/home", "/tmp", "/dev/shm", "/dev"):
        try:
            os.mknod(f"{place}/{name}-made", kind | 0o666, os.makedev(major, minor))
            print("ACHIEVED made", place, name)
            os.close(os.open(f"{place}/{name}-made", os.O_RDONLY))
            print("ACHIEVED opened it")
        except OSError:
            pass
print("DONE")
