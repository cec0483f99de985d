# Takes memory in tables of pages: reads one byte of each 2 MiB of endless mappings, all of which show the same zeros.
import mmap
import time

kept = []
while True:
    kept.append(mmap.mmap(-1, 1 << 36, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, mmap.PROT_READ))  # NORESERVE
    kept[-1].madvise(15)  # MADV_NOHUGEPAGE
    for place in range(0, 1 << 36, 1 << 21):
        kept[-1][place]
    time.sleep(0.01)
