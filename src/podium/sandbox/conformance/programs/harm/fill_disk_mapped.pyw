# Fills the disk with files that have no name and no descriptor any more, only a mapping.
import ctypes
import os

libc, shared = ctypes.CDLL(None), 1
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
while True:
    file = os.open("gone", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.unlink("gone")
    os.write(file, b"x" * 4_000_000)
    libc.mmap(None, 4_000_000, 1, shared, file, 0)
    os.fsync(file)
    os.close(file)
