# Asks where on the disk a file lies: blocks shared with a raw file would tell the order of the raw files.
import array
import fcntl
import os
import struct

FIBMAP, FIEMAP, EXT4_CACHE, XFS_MAPS = 1, 0xC020660B, 0xC020662A, (0xC0205826, 0xC020582C, 0xC0205838)
with open("/home/here", "wb") as file:
    file.write(b"x" * 100_000)
    file.flush()
    os.fsync(file.fileno())
with open("/home/here", "rb") as file:
    for order in (FIEMAP, EXT4_CACHE, *XFS_MAPS, FIBMAP):
        question = struct.pack("<QQIIII", 0, 1 << 40, 1, 0, 32, 0) + bytes(56 * 32)
        try:
            fcntl.ioctl(file, order, array.array("B", question))
            print("ACHIEVED an answer to", hex(order))
        except OSError:
            pass
print("DONE")
