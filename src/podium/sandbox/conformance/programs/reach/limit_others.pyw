# Tries to take files, time and memory from the first process and from its supervisor by lowering their limits.
import os
import resource

for process in (1, os.getppid()):
    for kind in (
        resource.RLIMIT_NOFILE,
        resource.RLIMIT_CPU,
        resource.RLIMIT_AS,
        resource.RLIMIT_FSIZE,
        resource.RLIMIT_NPROC,
    ):
        try:
            resource.prlimit(process, kind, (1, 1))
            print("ACHIEVED a limit for", process)
        except OSError:
            pass
for kind in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
    try:
        resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print("ACHIEVED no limit of its own")
    except (OSError, ValueError):
        pass
print("DONE")
